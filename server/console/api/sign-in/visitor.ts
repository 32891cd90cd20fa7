import type { Request, RequestHandler, Response } from 'express';
import { ConsoleError } from '../console-error.ts';
import type { ConsoleSettings } from '../../services.ts';
import { readCookie, serializeCookie } from './cookies.ts';
import { isSecure } from '../request-source.ts';
import { watchOf } from '../watch-visits.ts';
import type { SignInSession, SignInSessions } from './sign-in-sessions.ts';

const sessionCookie = 'coffer_session';

/** What the request carries of a session; undefined when the browser never signed in. */
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

/** Lets only people through who are signed in, and keeps their session for `visitorOf`. */
export function requireSignIn(sessions: SignInSessions, settings: Pick<ConsoleSettings, 'browserUrl'>): RequestHandler {
  return async (request, response, next) => {
    const secret = sessionSecret(request, settings);
    const session = secret === undefined ? undefined : await sessions.find(secret);
    if (session === undefined) {
      const message = secret === undefined ? 'Sign in first.' : 'Your session has ended. Sign in again.';
      throw new ConsoleError('NotSignedIn', message);
    }
    enter(response, session);
    next();
  };
}

/** From here on the request is that of the session. */
export function enter(response: Response, session: SignInSession): void {
  visitors(response).session = session;
  watchOf(response)?.isFrom(session.credentials.principal);
}

/** The session behind a request that `requireSignIn` let through. */
export function visitorOf(response: Response): SignInSession {
  const { session } = visitors(response);
  if (session === undefined) throw new Error('a route that needs a session is not behind requireSignIn');
  return session;
}

function visitors(response: Response): { session?: SignInSession } {
  return response.locals;
}
