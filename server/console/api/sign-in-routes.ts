import { Router, json } from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { isSignedInAt } from '../../access/openid-providers.ts';
import type { SignInOptions } from '../contract/answers.ts';
import type { ConsoleServices } from '../services.ts';
import { Attempts } from './attempts.ts';
import type { Gate } from './authorize.ts';
import { ConsoleError } from './console-error.ts';
import { clearNotice, readNotice } from './notice.ts';
import { secretEqual } from './secret-equal.ts';
import { describeSession } from './session-routes.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { isSecure } from './secure.ts';
import { watchOf } from './watch-visits.ts';
import { enter, setSessionCookie } from './visitor.ts';

const keysForm = z.object({
  accessKey: z.string().trim().min(1).max(256),
  secretKey: z.string().min(1).max(256),
  sessionToken: z.string().trim().max(16_384).optional(),
});

/** Ten wrong secrets a minute for an access key from one address: nobody guesses at that rate, and nobody mistypes so often. */
const guesses = { most: 10, windowMs: 60_000 };

/** How to sign in, and signing in by keys. */
export function signInRoutes(
  services: ConsoleServices,
  sessions: SignInSessions,
  gate: Gate,
  sweep: () => void,
): Router {
  const router = Router();
  const attempts = new Attempts(guesses);

  router.get('/sign-in-options', (request, response) => {
    const notice = readNotice(request);
    response.json({
      providers: services.providers.list.filter(isSignedInAt).map(({ id, displayName, status }) => ({
        id,
        displayName,
        ready: status.kind === 'ready',
        ...(status.kind === 'ready' ? {} : { reason: status.problem?.message ?? 'It has not answered yet.' }),
      })),
      ...(notice === undefined ? {} : { notice }),
    } satisfies SignInOptions);
  });

  router.post('/sign-in', json({ limit: '32kb' }), async (request: Request, response: Response) => {
    watchOf(response)?.isFor('ConsoleSignIn');
    const form = keysForm.parse(request.body);
    const now = services.clock().getTime();
    const who = `${request.socket.remoteAddress ?? ''} ${form.accessKey}`;
    const wait = attempts.waitSeconds(who, now);
    if (wait > 0) {
      response.set('retry-after', String(wait));
      throw new ConsoleError('TooManyAttempts', `Too many attempts with this access key. Try again in ${wait} s.`);
    }
    const credentials = await services.access.credentials(form.accessKey);
    // Compared in every case, so that time does not tell which access keys exist.
    const secretRight = secretEqual(form.secretKey, credentials?.secretKey ?? '');
    const tokenRight = secretEqual(form.sessionToken ?? '', credentials?.sessionToken ?? '');
    if (credentials === undefined || !secretRight || !tokenRight) {
      attempts.count(who, now);
      services.log.warn({ remoteAddress: request.socket.remoteAddress }, 'a sign-in by keys was refused');
      throw new ConsoleError('SignInRefused', refusal(form.sessionToken));
    }
    attempts.forget(who);
    sweep();
    const { secret, session } = await sessions.begin({ credentials }, { kind: 'keys' });
    const secure = isSecure(request, services.settings);
    setSessionCookie(response, secret, secondsUntil(session.expires, now), secure);
    clearNotice(response, secure);
    enter(response, session);
    response.json(await describeSession(services, { request, response }, gate));
  });

  return router;
}

export function secondsUntil(expires: Date, nowMs: number): number {
  return Math.max(1, Math.floor((expires.getTime() - nowMs) / 1000));
}

function refusal(sessionToken: string | undefined): string {
  return sessionToken === undefined || sessionToken === ''
    ? 'Access key and secret key do not belong together. Temporary credentials need their session token too.'
    : 'Access key, secret key and session token do not belong together, or the credentials have expired.';
}
