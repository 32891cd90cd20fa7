import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { canariesRecord, encodeCanaries, readCanaries } from '../../encryption/key-canaries.ts';
import { commitOnce } from '../../store/commits.ts';
import { keyUsage, keyReturned, removeKey, untilKeyMayReturn } from './key-lifecycle.ts';

const kms = (keyName: string) => ({ encryption: { scheme: 'SSE-KMS', keyName } }) as const;

async function prepared() {
  const test = testLayer({ inlineLimit: 100 });
  test.keyService.keys.set('k', Buffer.alloc(32, 1)).set('other', Buffer.alloc(32, 2));
  await test.layer.createBucket('bucket', { location: '' });
  const remove = (options: { force?: boolean; during?: () => Promise<void>; keyName?: string; now?: number } = {}) =>
    removeKey({
      records: test.records,
      keyName: options.keyName ?? 'k',
      defaultKey: 'default-key',
      force: options.force ?? false,
      clock: () => options.now ?? Date.now(),
      remove: async () => {
        await options.during?.();
        test.keyService.keys.delete(options.keyName ?? 'k');
      },
      exists: () =>
        test.keyService.failing === undefined
          ? Promise.resolve(test.keyService.keys.has(options.keyName ?? 'k'))
          : Promise.reject(new Error('away')),
    });
  return { ...test, remove };
}

describe('what a key is used for', () => {
  it('is counted by name: objects, uploads, defaults of buckets', async () => {
    const { layer, records } = await prepared();
    await layer.putObject(put('bucket', 'plain', 'x'));
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    await layer.putObject(put('bucket', 'b', 'x'.repeat(1_000), kms('k')));
    await layer.putObject(put('bucket', 'c', 'x', { encryption: { scheme: 'SSE-S3' } }));
    await layer.createMultipartUpload({ bucket: 'bucket', key: 'd', headers: { metadata: {} }, ...kms('other') });
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'other' });
    expect(Object.fromEntries(await keyUsage({ records }))).toEqual({
      k: { objects: 2, uploads: 0, buckets: [], backend: false },
      other: { objects: 0, uploads: 1, buckets: ['bucket'], backend: false },
      'default-key': { objects: 1, uploads: 0, buckets: [], backend: false },
    });
  });

  it('is not what was replaced or deleted', async () => {
    const { layer, records } = await prepared();
    for (const key of ['a', 'b']) await layer.putObject(put('bucket', key, 'x', kms('k')));
    await layer.putObject(put('bucket', 'a', 'x', kms('other')));
    await layer.deleteObject('bucket', 'b');
    expect([...(await keyUsage({ records })).keys()]).toEqual(['other']);
  });
});

const fails = () => Promise.reject(new Error('away'));

describe('the removal of a key', () => {
  it('takes away one that nothing uses, and nothing is encrypted with it afterwards though data keys of it are cached', async () => {
    const { layer, remove, keyService } = await prepared();
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    await layer.deleteObject('bucket', 'a');
    await remove();
    expect(keyService.keys.has('k')).toBe(false);
    await expect(layer.putObject(put('bucket', 'a', 'x', kms('k')))).rejects.toMatchObject({ code: 'KMSNotFound' });
    await expect(layer.headObject('bucket', 'a')).rejects.toMatchObject({ code: 'NoSuchKey' });
  });

  it('is refused while an object uses it, which is counted, and the key goes on as before', async () => {
    const { layer, remove, keyService } = await prepared();
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    await expect(remove()).rejects.toThrow('k is used by 1 object: rotate');
    expect(keyService.keys.has('k')).toBe(true);
    await layer.putObject(put('bucket', 'b', 'x', kms('k')));
    await expect(remove()).rejects.toThrow('2 objects');
  });

  it('is refused while an upload uses it, or a bucket would', async () => {
    const { layer, remove } = await prepared();
    await layer.createMultipartUpload({ bucket: 'bucket', key: 'd', headers: { metadata: {} }, ...kms('k') });
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'k' });
    await expect(remove()).rejects.toThrow('1 upload, the default of bucket');
  });

  it('can be forced, and tells what was lost', async () => {
    const { layer, remove } = await prepared();
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    expect(await remove({ force: true })).toMatchObject({ objects: 1 });
  });

  it('never takes the default key', async () => {
    const { remove } = await prepared();
    await expect(remove({ keyName: 'default-key', force: true })).rejects.toThrow('is the default key');
  });

  it('meets no object that is put at the same moment', async () => {
    const { layer, remove, keyService } = await prepared();
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    await layer.deleteObject('bucket', 'a');
    const during = async () => {
      const puts = [put('bucket', 'small', 'x', kms('k')), put('bucket', 'large', 'x'.repeat(1_000), kms('k'))];
      for (const one of puts) await expect(layer.putObject(one)).rejects.toMatchObject({ code: 'KMSNotFound' });
      const upload = { bucket: 'bucket', key: 'upload', headers: { metadata: {} }, ...kms('k') };
      await expect(layer.createMultipartUpload(upload)).rejects.toMatchObject({ code: 'KMSNotFound' });
    };
    await remove({ during });
    expect(keyService.keys.has('k')).toBe(false);
  });

  it('that fails at the key service leaves the key in use', async () => {
    const { layer, remove } = await prepared();
    await expect(remove({ during: fails })).rejects.toThrow('away');
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
  });

  it('whose outcome nobody can tell lets nothing be encrypted until it is asked for again', async () => {
    const { layer, remove, keyService } = await prepared();
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    await layer.deleteObject('bucket', 'a');
    const during = () => {
      keyService.failing = 'unavailable';
      return Promise.reject(new Error('no answer'));
    };
    await expect(remove({ during })).rejects.toThrow('no answer');
    keyService.failing = undefined;
    await expect(layer.putObject(put('bucket', 'a', 'x', kms('k')))).rejects.toMatchObject({ code: 'KMSNotFound' });
    await remove();
    expect(keyService.keys.has('k')).toBe(false);
  });

  it('takes its canaries away, so that a later key of the name is not refused as another one', async () => {
    const { records, remove } = await prepared();
    const put = [{ key: canariesRecord('k'), value: encodeCanaries([]) }];
    await commitOnce(records, { put }, randomBytes);
    await remove();
    expect(await readCanaries(records, 'k')).toBeUndefined();
  });

  it('keeps its name back until no server can hold a data key of it', async () => {
    const { layer, records, remove, keyService } = await prepared();
    await remove({ now: 1_000_000 });
    expect(await untilKeyMayReturn(records, 'k', 1_000_000)).toBe(360_000);
    expect(await untilKeyMayReturn(records, 'k', 1_360_000)).toBe(0);
    expect(await untilKeyMayReturn(records, 'other', 0)).toBe(0);
    keyService.keys.set('k', Buffer.alloc(32, 9));
    await keyReturned(records, 'k', 1_360_000);
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
  });
});
