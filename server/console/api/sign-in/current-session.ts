import type { Request, RequestHandler, Response } from 'express';
import type { ConsoleSettings } from '../../services.ts';
import { readCookie, serializeCookie } from './cookies.ts';
import { isSecure } from '../request-source.ts';
import { auditOf } from '../request-audit.ts';
import type { SignInSession, SignInSessions } from './sign-in-sessions.ts';
import { consoleError } from '../console-error.ts';

const sessionCookie = 'coffer_session';

/** Reads the secret of the session from the cookie; undefined without one. */
function sessionSecret(request: Request, settings: Pick<ConsoleSettings, 'browserUrl'>): string | undefined {
  const value = readCookie(request.headers.cookie, sessionCookie, isSecure(request, settings));
  return value === undefined || value.length > 200 ? undefined : value;
}

export function setSessionCookie(response: Response, secret: string, maxAgeSeconds: number, secure: boolean): void {
  response.append('set-cookie', serializeCookie(sessionCookie, secret, { maxAge: maxAgeSeconds, secure }));
}

export function clearSessionCookie(response: Response, secure: boolean): void {
  response.append('set-cookie', serializeCookie(sessionCookie, '', { maxAge: 0, secure }));
}

/** Refuses requests without a session, and stores the session for `currentSession`. */
export function requireSession(
  sessions: SignInSessions,
  settings: Pick<ConsoleSettings, 'browserUrl'>,
): RequestHandler {
  return async (request, response, next) => {
    const secret = sessionSecret(request, settings);
    const session = secret === undefined ? undefined : await sessions.find(secret);
    if (session === undefined) {
      const message = secret === undefined ? 'Sign in first.' : 'Your session has ended. Sign in again.';
      throw consoleError('NotSignedIn', message);
    }
    setCurrentSession(response, session);
    next();
  };
}

/** Makes the session the one of the request. */
export function setCurrentSession(response: Response, session: SignInSession): void {
  locals(response).session = session;
  auditOf(response)?.setPrincipal(session.credentials.principal);
}

/** Returns the session of a request behind `requireSession`. */
export function currentSession(response: Response): SignInSession {
  const { session } = locals(response);
  if (session === undefined) throw new Error('a route that needs a session is not behind requireSession');
  return session;
}

function locals(response: Response): { session?: SignInSession } {
  return response.locals;
}
