import { describe, expect, it } from 'vitest';
import { KeyServiceError } from '../../../platform/key-service/exchange.ts';
import { keyServiceKeys } from '../../encryption/key-service-keys.ts';
import { FakeKeyService } from '../../../test/support/encryption/fake-key-service.ts';
import { systemFailure } from '../../../test/support/store/system-failure.ts';
import { translateFailure } from './translate-failure.ts';

/** Returns the error for a client whose data key cannot be made, since the key service fails with `failure`. */
async function answerTo(failure: KeyServiceError): Promise<unknown> {
  const service = new FakeKeyService();
  service.generateKey = () => Promise.reject(failure);
  const keys = keyServiceKeys(service, { defaultKey: 'default-key' });
  return keys.generate('default-key', { 'coffer:object': 'bucket/key' }).catch(translateFailure);
}

describe('a key service that is of no use', () => {
  const gateway = 'The key service, or a gateway before it, answers with an error';
  const store = 'The key service answers, but the key store behind it (a vault, for instance) fails; try again.';

  it.each([
    [{}, 'The key service does not answer; try again.'],
    [{ status: 502, isOfStore: true }, store],
    [{ status: 504, isOfStore: true }, store],
    [{ status: 502 }, `${gateway} (status 502); try again.`],
    [{ status: 503 }, `${gateway} (status 503); try again.`],
  ])('is told from the store behind it by the answer %o', async (answered, message) => {
    const answer = await answerTo(new KeyServiceError('unavailable', 'bad gateway: failed to access key', answered));
    expect(answer).toMatchObject({ code: 'ServiceUnavailable', status: 503, message });
  });
});

describe('a machine that has used something up', () => {
  it.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])('is unavailable for the request that met %s', (code) => {
    expect(translateFailure(systemFailure(code, 'open'))).toMatchObject({ code: 'ServiceUnavailable', status: 503 });
  });

  it('is not meant by other errors of files', () => {
    const error = systemFailure('EACCES', 'open');
    expect(translateFailure(error)).toBe(error);
  });
});
