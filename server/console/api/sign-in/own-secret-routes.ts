import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { GuessLimits, isTooManyGuesses } from '../../../auth/guess-limits.ts';
import type { ConsoleServices } from '../../services.ts';
import { type Authorizer, readForm } from '../authorize.ts';
import { tooManyAttempts, consoleError, isConsoleError } from '../console-error.ts';
import { timingSafeEqual } from '../../../../protocol/timing-safe-equal.ts';
import { originOf } from '../request-source.ts';
import { currentSession } from './current-session.ts';

const form = z.strictObject({
  currentSecretKey: z.string().min(1).max(256),
  secretKey: z.string().min(1).max(256),
});

/** Replaces the secret key of the user. The session ends, because its secret key is no longer valid. */
export function ownSecretRoutes({ administration, clock }: ConsoleServices, authorizer: Authorizer): Router {
  const router = Router();
  // A person who finds an open session must not be able to guess its secret key.
  const limits = new GuessLimits(clock);

  router.put('/own-secret-key', async (request: Request, response: Response) => {
    const exchange = { request, response };
    const { accessKey, principal, secretKey: known } = currentSession(response).credentials;
    if (principal.kind !== 'user') {
      throw consoleError(
        'BadRequest',
        'Only users of this store can change their secret key here. You are signed in by other credentials.',
      );
    }
    await authorizer.requireOwn(exchange, 'admin:CreateUser');
    const { currentSecretKey, secretKey } = await readForm(exchange, form);
    const prove = () => {
      if (timingSafeEqual(currentSecretKey, known)) return Promise.resolve();
      const message = 'This is not your current secret key.';
      return Promise.reject(consoleError('BadRequest', message, { field: 'currentSecretKey' }));
    };
    const attempt = limits.attempt({ from: originOf(request), account: accessKey }, prove, isWrongSecret);
    await attempt.catch((error: unknown) => {
      throw isTooManyGuesses(error) ? tooManyAttempts(response, error, 'access key') : error;
    });
    await administration.identities.putUser({ accessKey, secretKey });
    response.status(204).end();
  });

  return router;
}

function isWrongSecret(error: unknown): boolean {
  return isConsoleError(error);
}
