import type { Request } from 'express';
import type { ConsoleSettings } from '../services.ts';
import { isEncrypted, sourceOf } from './source.ts';

/** Whether the browser reaches the console over TLS, ended here, at the proxy whose address is set, or at a trusted one: then cookies say so. */
export function isSecure(request: Request, settings: Pick<ConsoleSettings, 'browserUrl'>): boolean {
  return isEncrypted(request) || sourceOf(request).encrypted || settings.browserUrl?.startsWith('https:') === true;
}
