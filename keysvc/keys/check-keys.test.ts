import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canaryContextBytes } from '../../protocol/key-service/canary.ts';
import { MemoryKeyStore } from '../../test/support/keysvc/memory-keystore.ts';
import { KeyError } from '../keystores/keystore.ts';
import { checkKeys } from './check-keys.ts';
import { makeKey } from './key.ts';
import { Keyring } from './keyring.ts';
import { seal } from './seal.ts';

const ringOf = (store: MemoryKeyStore) => new Keyring(store, { any: 1000, unused: 1000, offline: 0 });

/** A key, and the canary that a server made of it. */
async function sealedBy(store: MemoryKeyStore, name: string) {
  const key = makeKey(new Date());
  await ringOf(store).create(name, key);
  const plaintext = randomBytes(32);
  const ciphertext = seal(key, plaintext, canaryContextBytes(name)).toString('base64');
  const digest = createHash('sha256').update(plaintext).digest('hex');
  return { key: name, canaries: [{ version: key.id, ciphertext, digest }] };
}

async function namesIn(store: MemoryKeyStore): Promise<readonly string[]> {
  return Array.fromAsync(ringOf(store).list());
}

describe('the check of a key store', () => {
  it('passes where every key that sealed data is the same', async () => {
    const store = new MemoryKeyStore();
    const canaries = [await sealedBy(store, 'a'), await sealedBy(store, 'b')];
    expect(await checkKeys(ringOf(store), ['a'], canaries)).toEqual({ proven: ['a', 'b'], missing: [] });
  });

  it('names the listed keys that a start would make, and makes none', async () => {
    const store = new MemoryKeyStore();
    expect(await checkKeys(ringOf(store), ['new'], [])).toEqual({ proven: [], missing: ['new'] });
    expect(await namesIn(store)).toEqual([]);
  });

  it('fails for a key that sealed data and is not there, listed or not, and makes none', async () => {
    const canaries = [await sealedBy(new MemoryKeyStore(), 'lost')];
    const empty = new MemoryKeyStore();
    await expect(checkKeys(ringOf(empty), ['lost'], canaries)).rejects.toThrow(/"lost".*does not have/);
    await expect(checkKeys(ringOf(empty), [], canaries)).rejects.toThrow(/"lost"/);
    expect(await namesIn(empty)).toEqual([]);
  });

  it('fails for a missing key that may have sealed data, though no server has told its canaries', async () => {
    const store = new MemoryKeyStore();
    await expect(checkKeys(ringOf(store), ['k'], [{ key: 'k', canaries: [] }])).rejects.toThrow(
      /may have been sealed.*"k"/,
    );
    await sealedBy(store, 'k');
    expect(await checkKeys(ringOf(store), ['k'], [{ key: 'k', canaries: [] }])).toMatchObject({ proven: ['k'] });
  });

  it('fails for another key of the same name', async () => {
    const canaries = [await sealedBy(new MemoryKeyStore(), 'k')];
    const other = new MemoryKeyStore();
    await sealedBy(other, 'k');
    await expect(checkKeys(ringOf(other), ['k'], canaries)).rejects.toThrow(/"k".*not the one that sealed/);
  });

  it('fails for credentials that the store refuses, though nothing was sealed', async () => {
    const store = new MemoryKeyStore();
    store.failure = new KeyError('refused', 'permission denied');
    await expect(checkKeys(ringOf(store), ['k'], [])).rejects.toThrow(/"k".*permission denied/);
  });

  it('names every key that is not proven, up to five', async () => {
    const before = new MemoryKeyStore();
    const canaries = await Promise.all(Array.from({ length: 7 }, (_, index) => sealedBy(before, `k${index}`)));
    await expect(checkKeys(ringOf(new MemoryKeyStore()), [], canaries)).rejects.toThrow(/"k0".*"k4".*and 2 more keys/);
  });
});
