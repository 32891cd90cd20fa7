import type { RequestListener } from 'node:http';
import type { ConsoleServices } from './services.ts';

/**
 * The console: its HTTP API, the way through single sign-on, and the web application.
 *
 * It needs a listener of its own whose server has `requestTimeout` 0, because an upload may take hours; `headersTimeout` still
 * bounds slow clients, and the bodies of everything else are small and bounded here.
 */
export function createConsole(_services: ConsoleServices): RequestListener {
  throw new Error('not yet');
}
