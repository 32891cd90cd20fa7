import { Router, json, type Request, type Response } from 'express';
import { z } from 'zod';
import { GuessLimits, TooManyGuesses } from '../../../auth/guess-limits.ts';
import { isSignedInAt } from '../../../federation/openid-providers.ts';
import type { SignInOptions } from '../../contract/answers.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Gate } from '../authorize.ts';
import { beginSession, describeSession } from './session-routes.ts';
import { ConsoleError, tooManyAttempts } from '../console-error.ts';
import { readNotice } from './cookies.ts';
import { secretEqual } from './secret-equal.ts';
import { isSecure, originOf, sourceOf } from '../request-source.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { watchOf } from '../watch-visits.ts';
import { isLdapGuess } from '../../../sts/assume-role-with-ldap-identity.ts';
import { StsError } from '../../../sts/sts-error.ts';
import { signInDuration } from './session-credentials.ts';

const keysForm = z.object({
  accessKey: z.string().trim().min(1).max(256),
  secretKey: z.string().min(1).max(256),
  sessionToken: z.string().trim().max(16_384).optional(),
});

/** How to sign in, and signing in by keys. */
export function signInRoutes(
  services: ConsoleServices,
  sessions: SignInSessions,
  gate: Gate,
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
        ...(status.kind === 'ready' ? {} : { reason: status.problem?.message ?? 'It has not answered yet.' }),
      })),
      directory: await services.directory.isConfigured(),
      ...(notice === undefined ? {} : { notice }),
    } satisfies SignInOptions);
  });

  router.post('/sign-in', json({ limit: '32kb' }), async (request: Request, response: Response) => {
    watchOf(response)?.isFor('ConsoleSignIn');
    const form = keysForm.parse(request.body);
    const from = originOf(request);
    const prove = async () => {
      const known = await services.access.credentials(form.accessKey);
      // Compared in every case, so that time does not tell which access keys exist.
      const secretRight = secretEqual(form.secretKey, known?.secretKey ?? '');
      const tokenRight = secretEqual(form.sessionToken ?? '', known?.sessionToken ?? '');
      if (known !== undefined && secretRight && tokenRight) return known;
      services.log.warn({ remoteAddress: from.remoteAddress }, 'a sign-in by keys was refused');
      throw new ConsoleError('SignInRefused', keysRefusal(form.sessionToken));
    };
    const attempt = limits.attempt({ from, account: form.accessKey }, prove, isSignInRefused);
    const credentials = await attempt.catch((error: unknown) => {
      throw error instanceof TooManyGuesses ? tooManyAttempts(response, error, 'access key') : error;
    });
    sweep();
    await beginSession(services, sessions, { request, response }, { credentials, signedInBy: { kind: 'keys' } });
    response.json(await describeSession(services, { request, response }, gate));
  });

  return router;
}

function isSignInRefused(error: unknown): boolean {
  return error instanceof ConsoleError && error.code === 'SignInRefused';
}

function keysRefusal(sessionToken: string | undefined): string {
  return sessionToken === undefined || sessionToken === ''
    ? 'Access key and secret key do not belong together. Temporary credentials need their session token too.'
    : 'Access key, secret key and session token do not belong together, or the credentials have expired.';
}

const directoryForm = z.object({
  name: z.string().trim().min(1).max(256),
  password: z.string().min(1).max(1024),
});

/**
 * Signing in by name and password at the directory. The form is not that of access keys, and neither is tried as the other: a secret key
 * that was meant for this server must not reach a directory.
 */
export function directorySignInRoutes(
  services: ConsoleServices,
  sessions: SignInSessions,
  gate: Gate,
  sweep: () => void,
): Router {
  const router = Router();

  router.post('/sign-in-by-directory', json({ limit: '32kb' }), async (request: Request, response: Response) => {
    const watch = watchOf(response);
    watch?.isFor('ConsoleSignInByDirectory');
    const { name, password } = directoryForm.parse(request.body);
    try {
      const durationSeconds = signInDuration(services.settings);
      const credentials = await services.assumeRoleWithLdapIdentity({
        name,
        password,
        durationSeconds,
        watch,
        from: originOf(request),
      });
      sweep();
      await beginSession(services, sessions, { request, response }, { credentials, signedInBy: { kind: 'directory' } });
    } catch (error) {
      if (!(error instanceof StsError)) throw error;
      const remoteAddress = sourceOf(request).address;
      services.log.warn({ err: error, remoteAddress }, 'a sign-in by the directory was refused');
      if (error.cause instanceof TooManyGuesses) throw tooManyAttempts(response, error.cause, 'name');
      throw directoryRefusal(error);
    }
    response.json(await describeSession(services, { request, response }, gate));
  });

  return router;
}

/** Whoever gave the right password is told what they lack; a stranger must not learn who is in the directory, nor where it is. */
function directoryRefusal(error: StsError): ConsoleError {
  const options = { cause: error };
  if (isLdapGuess(error))
    return new ConsoleError('SignInRefused', 'The directory does not know this name with this password.', options);
  if (error.code === 'IDPCommunicationError') {
    const message = 'The directory cannot be asked now. Try again in a moment; the log of the server has the reason.';
    return new ConsoleError('DirectoryUnavailable', message, options);
  }
  return new ConsoleError('SignInRefused', error.message, options);
}
