import type { StoredCredentials } from '../../access/principal.ts';
import type { ConsoleServices } from '../services.ts';
import type { Visit } from './authorize.ts';
import { clearNotice } from './notice.ts';
import { isSecure } from './secure.ts';
import type { SignedInBy, SignInSessions } from './sign-in-sessions.ts';
import { enter, setSessionCookie } from './visitor.ts';

/** From here on the browser is signed in, and the request too. */
export async function beginSession(
  { settings }: Pick<ConsoleServices, 'settings'>,
  sessions: SignInSessions,
  { request, response }: Visit,
  { credentials, signedInBy }: { readonly credentials: StoredCredentials; readonly signedInBy: SignedInBy },
): Promise<void> {
  const { secret, session } = await sessions.begin({ credentials }, signedInBy);
  const secure = isSecure(request, settings);
  setSessionCookie(response, secret, secondsUntil(session.expires, session.signedInAt.getTime()), secure);
  clearNotice(response, secure);
  enter(response, session);
}

export function secondsUntil(expires: Date, nowMs: number): number {
  return Math.max(1, Math.floor((expires.getTime() - nowMs) / 1000));
}
