import { json, Router } from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { TooManyGuesses } from '../../access/guess-limits.ts';
import { isLdapGuess } from '../../sts/assume-role-with-ldap-identity.ts';
import { StsError } from '../../sts/sts-error.ts';
import type { ConsoleServices } from '../services.ts';
import type { Gate } from './authorize.ts';
import { beginSession } from './begin-session.ts';
import { ConsoleError, tooManyAttempts } from './console-error.ts';
import { originOf, sourceOf } from './source.ts';
import { describeSession } from './session-routes.ts';
import { signInDuration } from './sign-in-duration.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { watchOf } from './watch-visits.ts';

const form = z.object({
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
    const { name, password } = form.parse(request.body);
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
      throw refusal(error);
    }
    response.json(await describeSession(services, { request, response }, gate));
  });

  return router;
}

/** Whoever gave the right password is told what they lack; a stranger must not learn who is in the directory, nor where it is. */
function refusal(error: StsError): ConsoleError {
  const options = { cause: error };
  if (isLdapGuess(error))
    return new ConsoleError('SignInRefused', 'The directory does not know this name with this password.', options);
  if (error.code === 'IDPCommunicationError') {
    const message = 'The directory cannot be asked now. Try again in a moment; the log of the server has the reason.';
    return new ConsoleError('DirectoryUnavailable', message, options);
  }
  return new ConsoleError('SignInRefused', error.message, options);
}
