import { expect, it } from 'vitest';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';
import { askKeyService } from './keys.ts';

it.each([
  [{}, 'The key service does not answer; try again.'],
  [
    { status: 504, isOfStore: true },
    'The key service answers, but the key store behind it (a vault, for instance) fails; try again.',
  ],
])('says what is away where the key service answers with %o', async (answered, message) => {
  const failure = new KeyServiceError('unavailable', 'key store is not reachable', answered);
  const asked = askKeyService('describe', 'key', () => Promise.reject(failure));
  await expect(asked).rejects.toMatchObject({ code: 'KMSUnavailable', message, cause: failure });
});
