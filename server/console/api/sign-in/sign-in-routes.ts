import { Router, json, type Request, type Response } from 'express';
import { z } from 'zod';
import { GuessLimits, isTooManyGuesses } from '../../../auth/guess-limits.ts';
import { isSignedInAt } from '../../../federation/openid-providers.ts';
import type { SignInOptions } from '../../../../protocol/console/answers.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer } from '../authorize.ts';
import { beginSession, describeSession } from './session-routes.ts';
import { tooManyAttempts, consoleError, isConsoleError } from '../console-error.ts';
import { readNotice } from './cookies.ts';
import { isSecure, originOf, sourceOf } from '../request-source.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { auditOf } from '../request-audit.ts';
import { isLdapGuess } from '../../../sts/assume-role-with-ldap-identity.ts';
import { signInDuration } from './session-credentials.ts';
import { timingSafeEqual } from '../../../../protocol/timing-safe-equal.ts';
import { isStsError } from '../../../sts/sts-error.ts';
import type { RequestError } from '../../../../protocol/request-error.ts';

const keysForm = z.strictObject({
  accessKey: z.string().trim().min(1).max(256),
  secretKey: z.string().min(1).max(256),
  sessionToken: z.string().trim().max(16_384).optional(),
});

/** The ways to sign in, and the sign-in by access key. */
export function signInRoutes(
  services: ConsoleServices,
  sessions: SignInSessions,
  authorizer: Authorizer,
  sweep: () => void,
): Router {
  const router = Router();
  const limits = new GuessLimits(services.clock);

  router.get('/sign-in-options', async (request, response) => {
    const notice = readNotice(request, isSecure(request, services.settings));
    response.json({
      providers: services.providers.list.filter(isSignedInAt).map(({ id, displayName, status }) => ({
        id,
        displayName,
        ready: status.kind === 'ready',
      })),
      directory: await services.directory.isConfigured(),
      notice,
    } satisfies SignInOptions);
  });

  router.post('/sign-in', json({ limit: '32kb' }), async (request: Request, response: Response) => {
    const form = keysForm.parse(request.body);
    const from = originOf(request);
    const prove = async () => {
      const known = await services.access.credentials(form.accessKey);
      // Both are always compared, so that the duration does not reveal which access keys exist.
      const secretRight = timingSafeEqual(form.secretKey, known?.secretKey ?? '');
      const tokenRight = timingSafeEqual(form.sessionToken ?? '', known?.sessionToken ?? '');
      if (known !== undefined && secretRight && tokenRight) return known;
      services.log.warn({ remoteAddress: from.remoteAddress }, 'a sign-in by keys was refused');
      throw consoleError('SignInRefused', keysRefusal(form.sessionToken));
    };
    const attempt = limits.attempt({ from, account: form.accessKey }, prove, isFailedSignIn);
    const credentials = await attempt.catch((error: unknown) => {
      throw isTooManyGuesses(error) ? tooManyAttempts(response, error, 'access key') : error;
    });
    sweep();
    await beginSession(services, sessions, { request, response }, { credentials, signedInBy: { kind: 'keys' } });
    response.json(await describeSession(services, { request, response }, authorizer));
  });

  return router;
}

function isFailedSignIn(error: unknown): boolean {
  return isConsoleError(error) && error.code === 'SignInRefused';
}

function keysRefusal(sessionToken: string | undefined): string {
  return sessionToken === undefined || sessionToken === ''
    ? 'Access key and secret key do not match. Temporary credentials need their session token too.'
    : 'Access key, secret key and session token do not match, or the credentials have expired.';
}

const directoryForm = z.strictObject({
  name: z.string().trim().min(1).max(256),
  password: z.string().min(1).max(1024),
});

/**
 * The sign-in by name and password of the directory. It has a form of its own: a secret key of this server must not be sent to the
 * directory.
 */
export function directorySignInRoutes(
  services: ConsoleServices,
  sessions: SignInSessions,
  authorizer: Authorizer,
  sweep: () => void,
): Router {
  const router = Router();

  router.post('/sign-in-by-directory', json({ limit: '32kb' }), async (request: Request, response: Response) => {
    const audit = auditOf(response);
    const { name, password } = directoryForm.parse(request.body);
    try {
      const durationSeconds = signInDuration(services.settings);
      const credentials = await services.assumeRoleWithLdapIdentity({
        name,
        password,
        durationSeconds,
        audit,
        from: originOf(request),
      });
      sweep();
      await beginSession(services, sessions, { request, response }, { credentials, signedInBy: { kind: 'directory' } });
    } catch (error) {
      if (!isStsError(error)) throw error;
      const remoteAddress = sourceOf(request).address;
      services.log.warn({ err: error, remoteAddress }, 'a sign-in by the directory was refused');
      if (isTooManyGuesses(error.cause)) throw tooManyAttempts(response, error.cause, 'name');
      throw directoryRefusal(error);
    }
    response.json(await describeSession(services, { request, response }, authorizer));
  });

  return router;
}

/** A user with the right password learns what is missing. Others must not learn who is in the directory, nor its address. */
function directoryRefusal(error: RequestError): RequestError {
  const options = { cause: error };
  if (isLdapGuess(error))
    return consoleError('SignInRefused', 'The directory does not know this name with this password.', options);
  if (error.code === 'IDPCommunicationError') {
    const message = 'The directory does not answer. Try again in a moment. The log of the server has the reason.';
    return consoleError('DirectoryUnavailable', message, options);
  }
  return consoleError('SignInRefused', error.message, options);
}
