import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyError } from '../keystores/keystore.ts';
import { MemoryKeyStore } from '../../test/support/keysvc/memory-keystore.ts';
import { Keyring, type CacheExpiry } from './keyring.ts';
import { addVersion } from './key-versions.ts';
import { makeKey } from './key.ts';

let store: MemoryKeyStore;
let now: number;
let keyring: Keyring;

async function open(expiry: Partial<CacheExpiry> = {}) {
  keyring = new Keyring(store, { any: 300_000, unused: 30_000, offline: 0, ...expiry }, () => now);
  await keyring.create('k', makeKey(new Date(0)));
}

beforeEach(() => {
  store = new MemoryKeyStore();
  now = 0;
});
afterEach(() => {
  vi.useRealTimers();
  return keyring.close();
});

describe('the keyring', () => {
  it('reads a key once for many uses, and once for several at the same time', async () => {
    await open();
    await Promise.all([keyring.get('k'), keyring.get('k')]);
    await keyring.get('k');
    expect(store.reads).toBe(1);
  });

  it('reads again what was not used for a while', async () => {
    await open();
    await keyring.get('k');
    now = 30_000;
    await keyring.get('k');
    expect(store.reads).toBe(2);
  });

  it('reads again what is old, used or not', async () => {
    await open();
    for (now = 0; now < 300_000; now += 20_000) await keyring.get('k');
    expect(store.reads).toBe(1);
    await keyring.get('k');
    expect(store.reads).toBe(2);
  });

  it('reads again what is old, also after the clock of the machine was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    keyring = new Keyring(store, { any: 0, unused: 30_000, offline: 0 });
    await keyring.create('k', makeKey(new Date(0)));
    await keyring.get('k');
    vi.setSystemTime(Date.now() - 1_200_000);
    await keyring.get('k');
    expect(store.reads).toBe(2);
  });

  it('reads the later versions that it may read, each time', async () => {
    await open();
    await keyring.rotate('k', new Date(1), undefined);
    store.failures.set('k--3', new KeyError('refused', 'no permission for k--3', { lacksPermission: true }));
    for (now = 0; now < 120_000; now += 60_000) expect((await keyring.versions('k')).all).toHaveLength(2);
  });

  it('asks for a later version again an hour after the store refused it', async () => {
    await open();
    store.failures.set('k--2', new KeyError('refused', 'no permission for k--2', { lacksPermission: true }));
    await keyring.get('k');
    store.failures.clear();
    await addVersion(store, 'k', new Date(1), undefined);
    now = 3_599_000;
    expect((await keyring.versions('k')).all).toHaveLength(1);
    now = 3_660_000;
    expect((await keyring.versions('k')).all).toHaveLength(2);
  });

  it('forgets a deleted key at once', async () => {
    await open();
    await keyring.get('k');
    await keyring.delete('k');
    await expect(keyring.get('k')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('does not bring back a key deleted while it was read', async () => {
    await open();
    const reading = keyring.get('k');
    await keyring.delete('k');
    await reading.catch(() => undefined);
    await expect(keyring.get('k')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('serves on from memory in an outage for as long as the offline cache allows', async () => {
    await open({ any: 1000, offline: 60_000 });
    const key = await keyring.get('k');
    store.failure = new KeyError('unreachable', 'no answer');
    now = 59_999;
    keyring.sweep();
    expect(await keyring.get('k')).toEqual(key);
    now = 60_000;
    keyring.sweep();
    await expect(keyring.get('k')).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('waits for nobody while the store is known to be away, and asks again when it is back', async () => {
    await open({ any: 1000, offline: 60_000 });
    await keyring.get('k');
    store.failure = new KeyError('unreachable', 'no answer');
    await keyring.probe();
    now = 2000;
    const reads = store.reads;
    await keyring.get('k');
    store.failure = undefined;
    await keyring.get('k');
    expect(store.reads).toBe(reads);
    await keyring.probe();
    await keyring.get('k');
    expect(store.reads).toBe(reads + 1);
  });

  it('does not take a refusal for an outage: a key that is held back serves no longer', async () => {
    await open({ any: 1000, offline: 60_000 });
    await keyring.get('k');
    await store.delete('k');
    now = 2000;
    await expect(keyring.get('k')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('serves a key from memory where the store does not answer in time', async () => {
    await open({ any: 1000, offline: 60_000 });
    const key = await keyring.get('k');
    now = 2000;
    store.get = () => new Promise(() => undefined);
    vi.useFakeTimers();
    try {
      const answer = keyring.get('k');
      await vi.runAllTimersAsync();
      expect(await answer).toEqual(key);
    } finally {
      vi.useRealTimers();
    }
  });

  it('seals with a new version at once', async () => {
    await open();
    const before = await keyring.get('k');
    await keyring.rotate('k', new Date(0), undefined);
    expect((await keyring.get('k')).id).not.toBe(before.id);
  });

  it('fails in an outage where there is no offline cache', async () => {
    await open({ any: 1000 });
    await keyring.get('k');
    store.failure = new KeyError('unavailable', 'broken');
    now = 1000;
    await expect(keyring.get('k')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('names a key whose record is damaged', async () => {
    await open();
    await store.create('bad', Buffer.from('{'));
    await expect(keyring.get('bad')).rejects.toMatchObject({
      code: 'corrupted',
      message: expect.stringContaining('"bad"'),
    });
  });
});
