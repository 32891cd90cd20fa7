import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryKeyStore } from '../../test/support/keysvc/memory-keystore.ts';
import { writeKeyRecord } from './key-record.ts';
import { addVersion, deleteVersions, listKeyNames, readVersions } from './key-versions.ts';
import { KeyError } from '../keystores/keystore.ts';
import { makeKey } from './key.ts';
import { seal, unsealWithVersions } from './seal.ts';

const now = new Date('2030-01-01T00:00:00Z');
const context = Buffer.from('{}');
const secret = Buffer.from('secret');

let store: MemoryKeyStore;
beforeEach(async () => {
  store = new MemoryKeyStore();
  await store.create('k', writeKeyRecord(makeKey(now)));
});

const rotate = () => addVersion(store, 'k', now, undefined);
const names = async () => (await Array.fromAsync(listKeyNames(store))).sort();

describe('a key that is rotated', () => {
  it('seals with the new version and opens what every version sealed', async () => {
    const sealed: Buffer[] = [];
    for (let version = 1; version <= 4; version++) {
      const { newest, all } = version === 1 ? await readVersions(store, 'k') : await rotate();
      expect(all).toHaveLength(version);
      sealed.push(seal(newest, secret, context));
    }
    const versions = await readVersions(store, 'k');
    for (const ciphertext of sealed) expect(unsealWithVersions(versions, ciphertext, context)).toEqual(secret);
    expect(() => unsealWithVersions(versions, sealed[3] ?? secret, Buffer.from('{"a":"b"}'))).toThrow(
      expect.objectContaining({ code: 'not-authentic' }),
    );
  });

  it('keeps its HMACs', async () => {
    const before = (await readVersions(store, 'k')).newest;
    const after = (await rotate()).newest;
    expect(after.hmacKey).toEqual(before.hmacKey);
    expect(after.id).not.toBe(before.id);
  });

  it('is not written over: its records stay as they were', async () => {
    const before = await store.get('k');
    await rotate();
    expect(await store.get('k')).toEqual(before);
  });

  it('gets one version from several rotations at once, and all see the same', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, rotate));
    const ids = new Set(outcomes.map(({ newest }) => newest.id));
    expect(ids.size).toBe(1);
  });

  it('is listed once, and its versions are no keys', async () => {
    await rotate();
    expect(await names()).toEqual(['k']);
    await expect(readVersions(store, 'k--2')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('is deleted with all its versions', async () => {
    await rotate();
    await rotate();
    await deleteVersions(store, 'k');
    expect(await Array.fromAsync(store.list())).toEqual([]);
    await expect(deleteVersions(store, 'k')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('tells a version that it does not know from a change of the bytes', async () => {
    const old = await readVersions(store, 'k');
    const { newest } = await rotate();
    expect(() => unsealWithVersions(old, seal(newest, secret, context), context)).toThrow(
      expect.objectContaining({ code: 'unknown-version' }),
    );
  });
});

describe('what only looks like a version', () => {
  it('is a key of its own, and is passed over', async () => {
    await store.create('k--2', writeKeyRecord(makeKey(now)));
    expect((await readVersions(store, 'k')).all).toHaveLength(1);
    const { all } = await rotate();
    expect(all).toHaveLength(2);
    expect(await names()).toEqual(['k', 'k--2']);
    expect((await readVersions(store, 'k--2')).all).toHaveLength(1);
  });

  it('counts for nothing where it is left of a deleted key of the same name', async () => {
    await rotate();
    await store.delete('k');
    await store.create('k', writeKeyRecord(makeKey(now)));
    expect((await readVersions(store, 'k')).all).toHaveLength(1);
    expect((await rotate()).all).toHaveLength(2);
  });
});

describe('a version', () => {
  it('is not deleted by its own name', async () => {
    await rotate();
    await expect(deleteVersions(store, 'k--2')).rejects.toMatchObject({ code: 'not-found' });
    expect((await readVersions(store, 'k')).all).toHaveLength(2);
  });
});

describe('a damaged key', () => {
  it('is named, and can be deleted', async () => {
    await store.create('bad', Buffer.from('{'));
    await expect(readVersions(store, 'bad')).rejects.toMatchObject({
      code: 'corrupted',
      message: expect.stringContaining('"bad"'),
    });
    await deleteVersions(store, 'bad');
    expect(await names()).toEqual(['k']);
  });
});

describe('a key whose later versions the store does not let this server read', () => {
  const lacking = new KeyError('refused', 'no permission for k--2', { lacksPermission: true });

  it('is used with the versions that it may read', async () => {
    const ciphertext = seal((await readVersions(store, 'k')).newest, secret, context);
    store.failures.set('k--2', lacking);
    expect(unsealWithVersions(await readVersions(store, 'k'), ciphertext, context)).toEqual(secret);
    await expect(rotate()).rejects.toBe(lacking);
  });

  it('names the refusal for a ciphertext of another version', async () => {
    const ciphertext = seal((await rotate()).newest, secret, context);
    store.failures.set('k--2', lacking);
    const versions = await readVersions(store, 'k');
    expect(() => unsealWithVersions(versions, ciphertext, context)).toThrow(lacking);
  });

  it('is not used where a later version is blocked or cannot be asked', async () => {
    for (const code of ['refused', 'unavailable'] as const) {
      store.failures.set('k--2', new KeyError(code, 'blocked'));
      await expect(readVersions(store, 'k')).rejects.toMatchObject({ code });
    }
  });
});
