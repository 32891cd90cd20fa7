import { describe, expect, it } from 'vitest';
import { KeyError } from '../keystore.ts';
import { confirmDeleted } from './confirm-deleted.ts';

describe('a deletion that was answered well', () => {
  it('is done where the key is not found', async () => {
    const error = new KeyError('not-found', 'there is no key "demo"');
    await expect(confirmDeleted({ get: () => Promise.reject(error) }, 'demo')).resolves.toBeUndefined();
  });

  it('is not done where the key is still there', async () => {
    const record = Buffer.from('record');
    await expect(confirmDeleted({ get: () => Promise.resolve(record) }, 'demo')).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it.each(['unreachable', 'unavailable', 'refused', 'corrupted'] as const)(
    'is not known to be done where the read is %s',
    async (code) => {
      const error = new KeyError(code, 'the vault is sealed');
      await expect(confirmDeleted({ get: () => Promise.reject(error) }, 'demo')).rejects.toMatchObject({
        code,
        message: expect.stringContaining('nothing tells whether the key is gone: the vault is sealed'),
      });
    },
  );
});
