import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { KeyError } from '../keystores/keystore.ts';
import { MemoryKeyStore } from '../../test/support/keysvc/memory-keystore.ts';
import { canaryContextBytes } from '../../protocol/key-service/canary.ts';
import { seal } from './seal.ts';
import { ensureKeys } from './ensure-keys.ts';
import { Keyring } from './keyring.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const ringOf = (store: MemoryKeyStore) => new Keyring(store, { any: 1000, unused: 1000, offline: 0 });

/** The canary that a server makes of a key. */
async function canaryOf(store: MemoryKeyStore, name: string) {
  const key = await ringOf(store).get(name);
  const plaintext = randomBytes(32);
  return {
    key: name,
    canaries: [
      {
        version: key.id,
        ciphertext: seal(key, plaintext, canaryContextBytes(name)).toString('base64'),
        digest: createHash('sha256').update(plaintext).digest('hex'),
      },
    ],
  };
}

describe('the keys of the configuration', () => {
  it('are made where they are missing and left alone where they are', async () => {
    const store = new MemoryKeyStore();
    await ensureKeys(ringOf(store), ['a', 'b'], [], log);
    const before = await store.get('a');
    await ensureKeys(ringOf(store), ['a', 'b'], [], log);
    expect(await store.get('a')).toEqual(before);
  });

  it('are not made where data may have been sealed under them', async () => {
    const store = new MemoryKeyStore();
    await expect(ensureKeys(ringOf(store), ['k'], [{ key: 'k', canaries: [] }], log)).rejects.toThrow(/not made anew/);
    expect(await Array.fromAsync(ringOf(store).list())).toEqual([]);
  });

  it('stop the start by name where one is damaged', async () => {
    const store = new MemoryKeyStore();
    await store.create('bad', Buffer.from('{nonsense'));
    await expect(ensureKeys(ringOf(store), ['good', 'bad'], [], log)).rejects.toMatchObject({
      code: 'not-ensured',
      message: expect.stringMatching(/"bad".*not JSON/),
    });
  });

  it('stop the start by name and cause where the store fails', async () => {
    const store = new MemoryKeyStore();
    store.failure = new KeyError('unreachable', 'connect ECONNREFUSED');
    await expect(ensureKeys(ringOf(store), ['k'], [], log)).rejects.toThrow(/"k".*ECONNREFUSED/);
  });

  it('take the key of another server that was faster', async () => {
    const store = new MemoryKeyStore();
    const other = new MemoryKeyStore();
    await ensureKeys(ringOf(other), ['k'], [], log);
    const record = await other.get('k');
    const get = store.get.bind(store);
    // The key is missing at the first read, and the other server creates it before the write.
    store.get = async (name) => {
      store.get = get;
      await store.create(name, record);
      throw new KeyError('not-found', 'not yet');
    };
    await ensureKeys(ringOf(store), ['k'], [], log);
    expect(await store.get('k')).toEqual(record);
  });

  it('open the canaries of what they sealed', async () => {
    const store = new MemoryKeyStore();
    await ensureKeys(ringOf(store), ['k'], [], log);
    const canaries = [await canaryOf(store, 'k')];
    await ensureKeys(ringOf(store), ['k'], canaries, log);
    await ringOf(store).rotate('k', new Date(), undefined);
    await expect(ensureKeys(ringOf(store), ['k'], canaries, log)).resolves.toBeUndefined();
  });

  it('are never made anew once anything was sealed under them, and the others are made', async () => {
    const store = new MemoryKeyStore();
    await ensureKeys(ringOf(store), ['k'], [], log);
    const canaries = [await canaryOf(store, 'k')];
    const empty = new MemoryKeyStore();
    await expect(ensureKeys(ringOf(empty), ['new', 'k'], canaries, log)).rejects.toMatchObject({
      code: 'not-ensured',
      message: expect.stringMatching(/"k".*it is not made anew/),
    });
    await expect(empty.get('k')).rejects.toMatchObject({ code: 'not-found' });
    await expect(empty.get('new')).resolves.toBeDefined();
  });

  it('stop the start where the key store has another key of the name', async () => {
    const store = new MemoryKeyStore();
    await ensureKeys(ringOf(store), ['k'], [], log);
    const canaries = [await canaryOf(store, 'k')];
    const other = new MemoryKeyStore();
    await ensureKeys(ringOf(other), ['k'], [], log);
    await expect(ensureKeys(ringOf(other), ['k'], canaries, log)).rejects.toMatchObject({
      code: 'not-ensured',
      message: expect.stringContaining('is not the one that sealed data'),
    });
  });
});
