import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dataKeyLimits } from './key-service-keys.ts';
import { secretKeySource } from './secret-key-source.ts';

const bytes = randomBytes(32);
const context = { bucket: 'b' };
const source = () => secretKeySource({ name: 'my-key', bytes });

describe('a key of the environment', () => {
  it('makes data keys that it opens again, also after a restart', async () => {
    const { plaintext, sealed } = await source().generate('my-key', context);
    expect(plaintext).toHaveLength(32);
    expect(await source().unseal(sealed, context)).toEqual(plaintext);
    expect(sealed).toMatchObject({ keyName: 'my-key', keyVersion: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(Buffer.from(sealed.ciphertext, 'base64').includes(plaintext)).toBe(false);
  });

  it('uses a data key as often as one of a key service, and in one context', async () => {
    const keys = source();
    const first = await keys.generate('my-key', context);
    for (let use = 1; use < dataKeyLimits.uses; use += 1) {
      expect((await keys.generate('my-key', context)).plaintext).toEqual(first.plaintext);
    }
    expect((await keys.generate('my-key', context)).plaintext).not.toEqual(first.plaintext);
    expect((await keys.generate('my-key', { bucket: 'c' })).plaintext).not.toEqual(first.plaintext);
  });

  it('opens nothing that was changed, nor in another context', async () => {
    const { sealed } = await source().generate('my-key', context);
    await expect(source().unseal(sealed, { bucket: 'c' })).rejects.toMatchObject({ code: 'not-authentic' });
    const bytes = Buffer.from(sealed.ciphertext, 'base64');
    const opening = (ciphertext: Buffer) =>
      source().unseal({ ...sealed, ciphertext: ciphertext.toString('base64') }, context);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(opening(changed)).rejects.toMatchObject({
        code: 'not-authentic',
      });
    }
    await expect(opening(bytes.subarray(1))).rejects.toMatchObject({ code: 'not-authentic' });
  });

  it('says that another key sealed it', async () => {
    const { sealed } = await source().generate('my-key', context);
    const other = secretKeySource({ name: 'my-key', bytes: randomBytes(32) });
    await expect(other.unseal(sealed, context)).rejects.toThrow(`sealed by ${sealed.keyVersion}, and this key is`);
  });

  it('knows no other key', async () => {
    await expect(source().generate('other', context)).rejects.toMatchObject({
      code: 'key-not-found',
      message: expect.stringContaining('my-key alone'),
    });
  });

  it('must have 32 bytes', () => {
    expect(() => secretKeySource({ name: 'my-key', bytes: randomBytes(31) })).toThrow('31 bytes, not 32');
  });
});
