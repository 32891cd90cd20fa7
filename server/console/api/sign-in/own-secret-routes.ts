import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { GuessLimits, TooManyGuesses } from '../../../auth/guess-limits.ts';
import type { ConsoleServices } from '../../services.ts';
import { type Gate, readForm } from '../authorize.ts';
import { ConsoleError, tooManyAttempts } from '../console-error.ts';
import { secretEqual } from './secret-equal.ts';
import { originOf } from '../request-source.ts';
import { visitorOf } from './visitor.ts';

const form = z.strictObject({
  currentSecretKey: z.string().min(1).max(256),
  secretKey: z.string().min(1).max(256),
});

/** Users give themselves another secret key. Their session ends with the old one. */
export function ownSecretRoutes({ administration, clock }: ConsoleServices, gate: Gate): Router {
  const router = Router();
  // Who finds an open session must not guess the secret behind it.
  const limits = new GuessLimits(clock);

  router.put('/own-secret-key', async (request: Request, response: Response) => {
    const visit = { request, response };
    const { accessKey, principal, secretKey: known } = visitorOf(response).credentials;
    if (principal.kind !== 'user') {
      throw new ConsoleError(
        'BadRequest',
        'Only users of this store have a secret key to change here; you are signed in by other credentials.',
      );
    }
    await gate.requireOwn(visit, 'admin:CreateUser');
    const { currentSecretKey, secretKey } = await readForm(visit, form);
    const prove = () => {
      if (secretEqual(currentSecretKey, known)) return Promise.resolve();
      const message = 'This is not your secret key now.';
      return Promise.reject(new ConsoleError('BadRequest', message, { field: 'currentSecretKey' }));
    };
    const attempt = limits.attempt({ from: originOf(request), account: accessKey }, prove, isWrongSecret);
    await attempt.catch((error: unknown) => {
      throw error instanceof TooManyGuesses ? tooManyAttempts(response, error, 'access key') : error;
    });
    await administration.identities.putUser({ accessKey, secretKey });
    response.status(204).end();
  });

  return router;
}

function isWrongSecret(error: unknown): boolean {
  return error instanceof ConsoleError;
}
