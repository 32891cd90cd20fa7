import type { Request } from 'express';
import type { ConsoleSettings } from '../services.ts';

/** Whether the browser reaches the console over TLS, ended here or at the proxy whose address is set: then cookies say so. */
export function isSecure(request: Request, settings: Pick<ConsoleSettings, 'browserUrl'>): boolean {
  return isEncrypted(request) || settings.browserUrl?.startsWith('https:') === true;
}

export function isEncrypted(request: Request): boolean {
  return 'encrypted' in request.socket && request.socket.encrypted === true;
}
