import { expect, it } from 'vitest';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';
import { askKeyService } from './keys.ts';

it.each([
  [undefined, 'The key service does not answer; try again.'],
  [504, 'The key service answers, but the key store behind it (a vault, for instance) fails; try again.'],
])('says what is away where the key service answers with the status %s', async (status, message) => {
  const failure = new KeyServiceError('unavailable', 'key store is not reachable', { status });
  const asked = askKeyService('describe', 'key', () => Promise.reject(failure));
  await expect(asked).rejects.toMatchObject({ code: 'KMSUnavailable', message, cause: failure });
});
