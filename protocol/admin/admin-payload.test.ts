import crypto from 'node:crypto';
import { assert, asyncProperty, string, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { algorithmOf, decryptPayload, encryptPayload } from './admin-payload.ts';

const secret = 'xPl.8/rhR"Q_1xLt';
/** As MinIO's own client encrypts: Argon2id and AES-256-GCM. A published vector. */
const published = Buffer.from(
  'b5c016e93b84b473fc8a37af94936563630c36d6df1841d23a86ee51ca161f9e00ac19116b32f643ff6a56a212b265d8c56195bb0d12ce199e13dfdc5272f80c1564da2c6fc2fa18da91d8062de02af5cdafea491c6f3cae1f',
  'hex',
);

describe('decryptPayload', () => {
  it('reads what MinIO’s client wrote', async () => {
    expect(await decryptPayload(secret, published)).toEqual(Buffer.alloc(32));
  });

  it('reads it by a library too, where Node has no Argon2', async () => {
    const { argon2 } = crypto;
    try {
      Object.assign(crypto, { argon2: undefined });
      expect(await decryptPayload(secret, published)).toEqual(Buffer.alloc(32));
    } finally {
      Object.assign(crypto, { argon2 });
    }
  });

  it('refuses another secret, a changed bit and a cut, wherever it is', async () => {
    await expect(decryptPayload('another', published)).rejects.toMatchObject({ name: 'FormatError' });
    const payload = await encryptPayload(secret, Buffer.alloc(40_000, 7));
    for (const at of [0, 31, 33, 40, 41, 20_000, payload.length - 1]) {
      const changed = Buffer.from(payload);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(decryptPayload(secret, changed)).rejects.toMatchObject({ name: 'FormatError' });
    }
    for (const length of [0, 32, 41, 56, 57, 41 + 16_400, payload.length - 1]) {
      await expect(decryptPayload(secret, payload.subarray(0, length))).rejects.toMatchObject({ name: 'FormatError' });
    }
  });

  it('refuses an algorithm that it does not know', async () => {
    const payload = await encryptPayload(secret, Buffer.from('x'));
    payload[32] = 9;
    await expect(decryptPayload(secret, payload)).rejects.toThrow(/algorithm 9/);
  });
});

describe('encryptPayload', () => {
  it.each([0, 1, 16_383, 16_384, 16_385, 32_768, 100_000])('can be read again with %i bytes', async (size) => {
    const plaintext = Buffer.alloc(size, 'x');
    expect(await decryptPayload(secret, await encryptPayload(secret, plaintext))).toEqual(plaintext);
  });

  it.each(['argon2id-aes', 'argon2id-chacha', 'pbkdf2-aes'] as const)('can be read again by %s', async (algorithm) => {
    const payload = await encryptPayload(secret, Buffer.alloc(20_000, 'x'), algorithm);
    expect(algorithmOf(payload)).toBe(algorithm);
    expect(await decryptPayload(secret, payload)).toEqual(Buffer.alloc(20_000, 'x'));
  });

  it('can be read again whatever it holds', async () => {
    await assert(
      asyncProperty(string({ minLength: 1 }), uint8Array({ maxLength: 40_000 }), async (key, bytes) => {
        const payload = await encryptPayload(key, Buffer.from(bytes));
        expect(await decryptPayload(key, payload)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 30 },
    );
  });
});
