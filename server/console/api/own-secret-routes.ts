import { json, Router } from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ConsoleServices } from '../services.ts';
import { Attempts } from './attempts.ts';
import type { Gate } from './authorize.ts';
import { ConsoleError } from './console-error.ts';
import { secretEqual } from './secret-equal.ts';
import { visitorOf } from './visitor.ts';

const form = z.strictObject({
  currentSecretKey: z.string().min(1).max(256),
  secretKey: z.string().min(1).max(256),
});

/** Whoever finds an open session must not guess the secret behind it. */
const guesses = { most: 10, windowMs: 60_000 };

/** Users give themselves another secret key. Their session ends with the old one. */
export function ownSecretRoutes({ administration, clock }: ConsoleServices, gate: Gate): Router {
  const router = Router();
  const attempts = new Attempts(guesses);

  router.put('/own-secret-key', json({ limit: '8kb' }), async (request: Request, response: Response) => {
    const { currentSecretKey, secretKey } = form.parse(request.body);
    const { accessKey, principal, secretKey: known } = visitorOf(response).credentials;
    if (principal.kind !== 'user') {
      throw new ConsoleError(
        'BadRequest',
        'Only users of this store have a secret key to change here; you are signed in by other credentials.',
      );
    }
    await gate.requireOwn({ request, response }, 'admin:CreateUser');
    const now = clock().getTime();
    const wait = attempts.waitSeconds(accessKey, now);
    if (wait > 0) {
      response.set('retry-after', String(wait));
      throw new ConsoleError('TooManyAttempts', `Too many wrong secret keys. Try again in ${wait} s.`);
    }
    if (!secretEqual(currentSecretKey, known)) {
      attempts.count(accessKey, now);
      throw new ConsoleError('BadRequest', 'This is not your secret key now.', { field: 'currentSecretKey' });
    }
    attempts.forget(accessKey);
    await administration.identities.putUser({ accessKey, secretKey });
    response.status(204).end();
  });

  return router;
}
