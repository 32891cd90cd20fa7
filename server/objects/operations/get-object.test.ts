import { describe, expect, it } from 'vitest';
import type { ReadConditions, WriteConditions } from '../contract/object-layer.ts';
import { keptChunks } from '../../streams/chunks.ts';
import { crc32 } from 'node:zlib';
import { keyServiceKeys } from '../../encryption/key-service-keys.ts';
import { noKeySource } from '../../encryption/key-source.ts';
import { endOf, within } from '../../store/keys.ts';
import { decodeObject } from '../records/object-record.ts';
import { encodeRecord, recordKeys } from '../records/record-format.ts';
import { createObjectLayer } from '../objects.ts';
import {
  body,
  chunks,
  put,
  randomBody,
  readAll,
  testDigests,
  testLayer,
} from '../../../test/support/objects/test-layer.ts';
import { checkReadConditions, checkWriteConditions } from '../versions/preconditions.ts';

const modified = Date.UTC(2026, 0, 1, 12, 0, 0, 500);
const current = { etag: 'abc', modified };
const second = new Date(Date.UTC(2026, 0, 1, 12, 0, 0));
const before = new Date(second.getTime() - 1000);
const later = new Date(second.getTime() + 1000);

function codeOf(run: () => void): string {
  try {
    run();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('write conditions', () => {
  it.each<[WriteConditions | undefined, typeof current | undefined, string]>([
    [undefined, current, 'ok'],
    [{ ifMatch: ['abc'] }, current, 'ok'],
    [{ ifMatch: ['x', 'abc'] }, current, 'ok'],
    [{ ifMatch: ['*'] }, current, 'ok'],
    [{ ifMatch: ['x'] }, current, 'PreconditionFailed'],
    [{ ifMatch: [] }, current, 'PreconditionFailed'],
    [{ ifMatch: ['abc'] }, undefined, 'NoSuchKey'],
    [{ ifMatch: ['*'] }, undefined, 'NoSuchKey'],
    [{ ifNoneMatch: ['*'] }, current, 'PreconditionFailed'],
    [{ ifNoneMatch: ['*'] }, undefined, 'ok'],
    [{ ifNoneMatch: ['abc'] }, current, 'PreconditionFailed'],
    [{ ifNoneMatch: ['x'] }, current, 'ok'],
    [{ ifMatch: ['abc'], ifNoneMatch: ['abc'] }, current, 'PreconditionFailed'],
  ])('%j over %j: %s', (conditions, there, expected) => {
    expect(codeOf(() => checkWriteConditions(conditions, there, 'key'))).toBe(expected);
  });
});

describe('read conditions', () => {
  it.each<[ReadConditions | undefined, string]>([
    [undefined, 'ok'],
    [{ ifMatch: ['abc'] }, 'ok'],
    [{ ifMatch: ['x'] }, 'PreconditionFailed'],
    [{ ifNoneMatch: ['abc'] }, 'NotModified'],
    [{ ifNoneMatch: ['*'] }, 'NotModified'],
    [{ ifNoneMatch: ['x'] }, 'ok'],
    [{ ifModifiedSince: before }, 'ok'],
    [{ ifModifiedSince: second }, 'NotModified'],
    [{ ifModifiedSince: later }, 'NotModified'],
    [{ ifUnmodifiedSince: before }, 'PreconditionFailed'],
    [{ ifUnmodifiedSince: second }, 'ok'],
    // If-Match outranks If-Unmodified-Since; If-None-Match outranks If-Modified-Since.
    [{ ifMatch: ['abc'], ifUnmodifiedSince: before }, 'ok'],
    [{ ifMatch: ['x'], ifUnmodifiedSince: later }, 'PreconditionFailed'],
    [{ ifNoneMatch: ['x'], ifModifiedSince: later }, 'ok'],
    [{ ifNoneMatch: ['abc'], ifModifiedSince: before }, 'NotModified'],
    [{ ifMatch: ['x'], ifNoneMatch: ['abc'] }, 'PreconditionFailed'],
  ])('%j: %s', (conditions, expected) => {
    expect(codeOf(() => checkReadConditions(conditions, current))).toBe(expected);
  });
});

async function prepared(options: Parameters<typeof testLayer>[0] = {}) {
  const test = testLayer({ inlineLimit: 1000, ...options });
  await test.layer.createBucket('bucket', { location: '' });
  return test;
}

const encryptions = [undefined, { scheme: 'SSE-S3' }] as const;

describe('getObject', () => {
  it('gives any range, of small and large, plain and encrypted', async () => {
    const { layer } = await prepared();
    for (const size of [0, 900, 200_000]) {
      for (const encryption of encryptions) {
        const bytes = randomBody(size);
        await layer.putObject(put('bucket', 'key', bytes, encryption && { encryption }));
        for (const [start, end] of [
          [0, size],
          [0, 0],
          [size, size],
          [Math.floor(size / 3), Math.floor(size / 2)],
          [Math.max(0, size - 1), size],
        ] as const) {
          const { read } = await layer.getObject('bucket', 'key');
          expect((await readAll(read({ start, end }))).equals(bytes.subarray(start, end))).toBe(true);
        }
      }
    }
  });

  it('tells headers, metadata, size, time, encryption', async () => {
    const { layer } = await prepared({ clock: () => 1_700_000_000_123 });
    const headers = { contentType: 'text/plain', cacheControl: 'no-store', metadata: { colour: 'grün' } };
    await layer.putObject(put('bucket', 'key', 'hello', { headers, encryption: { scheme: 'SSE-KMS' } }));
    const expected = {
      ...headers,
      bucket: 'bucket',
      key: 'key',
      size: 5,
      lastModified: new Date(1_700_000_000_123),
      encryption: { scheme: 'SSE-KMS', keyName: 'default-key' },
    };
    expect((await layer.getObject('bucket', 'key')).info).toMatchObject(expected);
    expect(await layer.headObject('bucket', 'key')).toMatchObject(expected);
  });

  it('tells a missing object from a missing bucket', async () => {
    const { layer } = await prepared();
    await expect(layer.getObject('bucket', 'none')).rejects.toMatchObject({ code: 'NoSuchKey' });
    await expect(layer.getObject('none', 'none')).rejects.toMatchObject({ code: 'NoSuchBucket' });
    await expect(layer.headObject('none', 'none')).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('is refused by its conditions', async () => {
    const { layer } = await prepared();
    const { etag } = await layer.putObject(put('bucket', 'key', 'hello'));
    await expect(layer.getObject('bucket', 'key', { conditions: { ifNoneMatch: [etag] } })).rejects.toMatchObject({
      code: 'NotModified',
    });
    await expect(layer.headObject('bucket', 'key', { conditions: { ifMatch: ['x'] } })).rejects.toMatchObject({
      code: 'PreconditionFailed',
    });
  });

  it('reads a small object in one round trip, and hands its bytes over at once', async () => {
    const { layer, records } = await prepared();
    await layer.putObject(put('bucket', 'key', 'hello'));
    let reads = 0;
    const get = records.get.bind(records);
    const getAll = records.getAll.bind(records);
    records.get = (key) => {
      reads += 1;
      return get(key);
    };
    records.getAll = (keys) => {
      reads += 1;
      return getAll(keys);
    };
    const { read } = await layer.getObject('bucket', 'key');
    expect(String(await readAll(read({ start: 1, end: 4 })))).toBe('ell');
    expect(reads).toBe(1);
  });

  it('gives the old or the new body, never a mixture, while it is replaced', async () => {
    const { layer } = await prepared();
    const bodies = ['a'.repeat(500), 'b'.repeat(700), 'c'.repeat(5000)];
    await layer.putObject(put('bucket', 'key', 'a'.repeat(500)));
    const writer = (async () => {
      for (let round = 0; round < 60; round += 1) await layer.putObject(put('bucket', 'key', bodies[round % 3] ?? ''));
    })();
    for (let round = 0; round < 60; round += 1) expect(bodies).toContain(String(await body(layer, 'bucket', 'key')));
    await writer;
  });

  it('fails while the key service is away, and clearly', async () => {
    const { layer, records, blobs, keyService } = await prepared();
    await layer.putObject(put('bucket', 'key', 'hello', { encryption: { scheme: 'SSE-S3' } }));
    const keys = keyServiceKeys(keyService, { defaultKey: 'default-key' });
    const restarted = createObjectLayer({ records, blobs, keys, digests: testDigests });
    keyService.failing = 'unavailable';
    await expect(restarted.getObject('bucket', 'key')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(restarted.headObject('bucket', 'key')).resolves.toMatchObject({ size: 5 });
  });
});

describe('a damaged body', () => {
  it('is told by the CRC-32 of an older record too, which has nothing else', async () => {
    const { layer, records } = await prepared();
    const bytes = randomBody(5000);
    await layer.putObject(put('bucket', 'key', bytes));
    const key = recordKeys.object('bucket', 'key');
    const rewrite = async (id: string, change: (body: { block?: number; sums?: string; crc: number }) => void) => {
      const entry = await records.get(key);
      const record = decodeObject(entry?.value ?? Buffer.alloc(0), 'bucket', 'key') as {
        body: { block?: number; sums?: string; crc: number };
      };
      change(record.body);
      await records.commit({ id, put: [{ key, value: encodeRecord(record) }] });
    };
    await rewrite('01', (stored) => {
      expect(stored.sums).toBeDefined();
      delete stored.sums;
      delete stored.block;
      stored.crc = crc32(bytes) ^ 1;
    });
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('are damaged');
    const others = randomBody(5000);
    await layer.putObject(put('bucket', 'key', others));
    await rewrite('02', (stored) => {
      delete stored.sums;
      delete stored.block;
      stored.crc = crc32(others);
    });
    expect((await body(layer, 'bucket', 'key')).equals(others)).toBe(true);
  });

  it('is never given out whole, small or large, plain or encrypted', async () => {
    for (const size of [900, 200_000]) {
      for (const encryption of encryptions) {
        const { layer, records, blobs } = await prepared();
        const bytes = randomBody(size);
        await layer.putObject(put('bucket', 'key', bytes, encryption && { encryption }));
        if (size < 1000) {
          const key = recordKeys.inline('bucket', 'key');
          const value = Buffer.from((await records.get(key))?.value ?? '');
          value[500] = (value[500] ?? 0) ^ 1;
          await records.commit({ id: '00', put: [{ key, value }] });
        } else {
          for (const { id, size: length } of await Array.fromAsync(blobs.list())) {
            const value = await readAll(blobs.read(id, { start: 0, end: length }));
            value[70_000] = (value[70_000] ?? 0) ^ 1;
            await blobs.remove(id);
            await blobs.write(id, chunks(value, 65_536));
          }
        }
        const { read } = await layer.getObject('bucket', 'key');
        const given: Buffer[] = [];
        const reading = async () => {
          for await (const chunk of keptChunks(read({ start: 0, end: size }))) given.push(chunk);
        };
        await expect(reading()).rejects.toThrow('bucket/key are damaged');
        expect(Buffer.concat(given).length).toBeLessThan(size);
      }
    }
  });

  it('that is gone fails by its name', async () => {
    const { layer, blobs } = await prepared();
    await layer.putObject(put('bucket', 'key', randomBody(5000)));
    for await (const { id } of blobs.list()) await blobs.remove(id);
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('is missing');
  });

  it('is found when an encrypted record is moved to another key', async () => {
    const { layer, records } = await prepared();
    await layer.putObject(put('bucket', 'key', 'hello', { encryption: { scheme: 'SSE-S3' } }));
    for (const kind of ['object', 'inline'] as const) {
      const value = (await records.get(recordKeys[kind]('bucket', 'key')))?.value ?? Buffer.alloc(0);
      await records.commit({ id: kind, put: [{ key: recordKeys[kind]('bucket', 'moved'), value }] });
    }
    await expect(layer.getObject('bucket', 'moved')).rejects.toThrow('is not authentic');
  });
});

describe('a record of a newer server', () => {
  it('is refused by what it is', async () => {
    const { layer, records } = await prepared();
    await records.commit({ id: '00', put: [{ key: recordKeys.object('bucket', 'key'), value: Buffer.from([5, 1]) }] });
    await expect(layer.headObject('bucket', 'key')).rejects.toThrow('start the newer server');
  });
});

describe('copyObject', () => {
  const source = { bucket: 'bucket', key: 'source' };

  it('takes headers along, or replaces them', async () => {
    const { layer } = await prepared();
    const headers = { contentType: 'text/plain', metadata: { a: '1' } };
    await layer.putObject(put('bucket', 'source', 'hello', { headers }));
    expect(await layer.copyObject({ source, bucket: 'bucket', key: 'a' })).toMatchObject(headers);
    const replaced = await layer.copyObject({ source, bucket: 'bucket', key: 'b', headers: { metadata: { b: '2' } } });
    expect(replaced.contentType).toBeUndefined();
    expect(replaced.metadata).toEqual({ b: '2' });
    expect(String(await body(layer, 'bucket', 'b'))).toBe('hello');
  });

  it('encrypts as the target asks, whatever the source is', async () => {
    const { layer } = await prepared();
    await layer.putObject(put('bucket', 'source', randomBody(5000), { encryption: { scheme: 'SSE-KMS' } }));
    const copy = await layer.copyObject({ source, bucket: 'bucket', key: 'plain' });
    expect(copy.encryption).toBeUndefined();
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-S3' });
    expect((await layer.copyObject({ source, bucket: 'bucket', key: 'x' })).encryption).toEqual({ scheme: 'SSE-S3' });
    expect((await body(layer, 'bucket', 'x')).equals(await body(layer, 'bucket', 'source'))).toBe(true);
  });

  it('onto itself must change something', async () => {
    const { layer } = await prepared();
    await layer.putObject(put('bucket', 'source', randomBody(5000)));
    await expect(layer.copyObject({ source, ...source })).rejects.toMatchObject({ code: 'InvalidRequest' });
    const headers = { metadata: { changed: 'yes' } };
    await expect(layer.copyObject({ source, ...source, headers })).resolves.toMatchObject(headers);
    await expect(layer.copyObject({ source, ...source, encryption: { scheme: 'SSE-S3' } })).resolves.toBeDefined();
    expect(await body(layer, 'bucket', 'source')).toHaveLength(5000);
  });

  it('is refused by the conditions on its source, 304 as 412', async () => {
    const { layer } = await prepared();
    const { etag } = await layer.putObject(put('bucket', 'source', 'hello'));
    const conditions = { ifNoneMatch: [etag] };
    const answer = layer.copyObject({ source: { ...source, conditions }, bucket: 'bucket', key: 'x' });
    await expect(answer).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });
});

describe('deleteObject', () => {
  it('succeeds for a key that is not there, not for a bucket that is not', async () => {
    const { layer } = await prepared();
    await expect(layer.deleteObject('bucket', 'none')).resolves.toEqual({ deleteMarker: false });
    await expect(layer.deleteObject('none', 'none')).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('leaves nothing of a small object', async () => {
    const { layer, records } = await prepared();
    await layer.putObject(put('bucket', 'key', 'hello', { encryption: { scheme: 'SSE-S3' } }));
    await layer.deleteObject('bucket', 'key');
    const left = await Array.fromAsync(records.scan({ start: endOf(within('b').start), end: Buffer.of(255) }));
    // That its key is in use outlives it.
    expect(left.map((item) => item.kind === 'entry' && item.key)).toEqual([recordKeys.keyUse('default-key')]);
  });
});

describe('without a key service', () => {
  it('refuses encryption as not implemented, and the default of a bucket too', async () => {
    const { layer } = await prepared({ keys: noKeySource });
    const rejected = {
      code: 'NotImplemented',
      message: 'Server side encryption specified but KMS is not configured',
    };
    const answer = layer.putObject(put('bucket', 'key', 'x', { encryption: { scheme: 'SSE-S3' } }));
    await expect(answer).rejects.toMatchObject(rejected);
    await expect(layer.putBucketEncryption('bucket', { scheme: 'SSE-S3' })).rejects.toMatchObject(rejected);
  });
});

describe('the default encryption of a bucket', () => {
  it('is set, shown and taken away', async () => {
    const { layer } = await prepared();
    expect(await layer.getBucketEncryption('bucket')).toBeUndefined();
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'default-key' });
    expect(await layer.getBucketEncryption('bucket')).toEqual({ scheme: 'SSE-KMS', keyName: 'default-key' });
    await layer.deleteBucketEncryption('bucket');
    expect(await layer.getBucketEncryption('bucket')).toBeUndefined();
  });

  it('must name a key that exists', async () => {
    const { layer } = await prepared();
    const answer = layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'none' });
    await expect(answer).rejects.toMatchObject({ code: 'KMSNotFound' });
    expect(await layer.getBucketEncryption('bucket')).toBeUndefined();
  });
});
