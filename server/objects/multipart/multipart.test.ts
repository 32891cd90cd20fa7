import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { within } from '../../store/keys.ts';
import { removeQueuedBlobs } from '../garbage-collection/garbage-collection.ts';
import type { ObjectLayer, PutPart } from '../contract/object-layer.ts';
import {
  body,
  chunks,
  put,
  randomBody,
  readAll,
  testLayer,
  type TestLayer,
} from '../../../test/support/objects/test-layer.ts';
import { bodyFrom } from '../contract/body-source.ts';

const MIB = 1024 * 1024;
const headers = { metadata: {} };

async function prepared(options: Parameters<typeof testLayer>[0] = {}): Promise<TestLayer & { uploadId: string }> {
  const test = testLayer(options);
  await test.layer.createBucket('bucket', { location: '' });
  const { uploadId } = await test.layer.createMultipartUpload({ bucket: 'bucket', key: 'key', headers });
  return { ...test, uploadId };
}

function part(uploadId: string, partNumber: number, bytes: Buffer | string, more: Partial<PutPart> = {}): PutPart {
  const buffer = Buffer.from(bytes);
  return {
    bucket: 'bucket',
    key: 'key',
    uploadId,
    partNumber,
    body: bodyFrom(chunks(buffer, 300_000)),
    size: buffer.length,
    digests: {},
    ...more,
  };
}

/** What the client lists when it completes. */
async function send(layer: ObjectLayer, request: PutPart): Promise<{ partNumber: number; etag: string }> {
  const { partNumber, etag } = await layer.putPart(request);
  return { partNumber, etag };
}

function upload(uploadId: string) {
  return { bucket: 'bucket', key: 'key', uploadId };
}

/** Has `act` done right before the next look at the parts. */
function beforeParts({ records }: TestLayer, act: () => Promise<unknown>): void {
  const scan = records.scan.bind(records);
  records.scan = async function* (range) {
    records.scan = scan;
    await act();
    yield* scan(range);
  };
}

describe('a multipart upload', () => {
  for (const encryption of [undefined, { scheme: 'SSE-S3' }, { scheme: 'SSE-KMS' }] as const) {
    it(`becomes an object whose every range reads right, ${encryption?.scheme ?? 'plain'}`, async () => {
      const { layer } = await prepared();
      const created = await layer.createMultipartUpload({
        bucket: 'bucket',
        key: 'key',
        headers: { contentType: 'text/plain', metadata: { a: 'b' } },
        ...(encryption && { encryption }),
      });
      const bodyChunks = [randomBody(5 * MIB), randomBody(5 * MIB + 77), randomBody(10)];
      const parts = [];
      for (const [index, bytes] of bodyChunks.entries()) {
        parts.push(await send(layer, part(created.uploadId, index * 7 + 1, bytes)));
      }
      const info = await layer.completeMultipartUpload({ ...upload(created.uploadId), parts });
      expect(info).toMatchObject({ size: 10 * MIB + 87, parts: 3, contentType: 'text/plain', metadata: { a: 'b' } });
      const whole = Buffer.concat(bodyChunks);
      expect((await body(layer, 'bucket', 'key')).equals(whole)).toBe(true);
      for (const [start, end] of [
        [0, 1],
        [5 * MIB - 1, 5 * MIB + 1],
        [5 * MIB, 5 * MIB + 1],
        [10 * MIB + 76, 10 * MIB + 87],
        [65_535, 10 * MIB + 78],
      ] as const) {
        const { read } = await layer.getObject('bucket', 'key');
        expect((await readAll(read({ start, end }))).equals(whole.subarray(start, end))).toBe(true);
      }
    });
  }

  it('has the MD5 of the MD5s and the number of parts as ETag', async () => {
    const { layer, uploadId } = await prepared();
    const bodyChunks = [randomBody(5 * MIB), randomBody(3)];
    const parts = [];
    for (const [index, bytes] of bodyChunks.entries()) parts.push(await send(layer, part(uploadId, index + 1, bytes)));
    const { etag } = await layer.completeMultipartUpload({ ...upload(uploadId), parts });
    const hash = createHash('md5');
    for (const bytes of bodyChunks) hash.update(createHash('md5').update(bytes).digest());
    expect(etag).toBe(`${hash.digest('hex')}-2`);
  });

  it('shows nothing of itself before it is completed', async () => {
    const { layer, uploadId } = await prepared();
    await send(layer, part(uploadId, 1, 'x'));
    const { objects } = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(objects).toEqual([]);
  });

  it('takes the later of two uploads of one part, and gives the earlier up', async () => {
    const { layer, uploadId, records } = await prepared();
    await send(layer, part(uploadId, 1, 'earlier'));
    const later = await send(layer, part(uploadId, 1, 'later'));
    await layer.completeMultipartUpload({ ...upload(uploadId), parts: [later] });
    expect(String(await body(layer, 'bucket', 'key'))).toBe('later');
    expect(await Array.fromAsync(records.scan(within('x')))).toHaveLength(1);
  });

  it('answers a repeated completion the same', async () => {
    const { layer, uploadId } = await prepared();
    const parts = [await send(layer, part(uploadId, 1, 'x'))];
    const conditions = { ifNoneMatch: ['*'] };
    const first = await layer.completeMultipartUpload({ ...upload(uploadId), parts, conditions });
    const again = await layer.completeMultipartUpload({ ...upload(uploadId), parts, conditions });
    expect(again).toEqual(first);
  });

  it('answers completions at once the same, each under its condition', async () => {
    const { layer, uploadId } = await prepared();
    const parts = [await send(layer, part(uploadId, 1, 'x'))];
    const conditions = { ifNoneMatch: ['*'] };
    const all = Array.from({ length: 8 }, () =>
      layer.completeMultipartUpload({ ...upload(uploadId), parts, conditions }),
    );
    const [first, ...others] = await Promise.all(all);
    for (const other of others) expect(other).toEqual(first);
    expect(String(await body(layer, 'bucket', 'key'))).toBe('x');
  });

  it('answers a completion that finds the parts taken by another one as that one', async () => {
    const test = await prepared();
    const { layer, uploadId } = test;
    const request = { ...upload(uploadId), parts: [await send(layer, part(uploadId, 1, 'x'))] };
    beforeParts(test, () => layer.completeMultipartUpload(request));
    await expect(layer.completeMultipartUpload(request)).resolves.toMatchObject({ size: 1 });
  });

  it('is unknown to a completion that an abort overtakes', async () => {
    const test = await prepared();
    const { layer, uploadId, records, blobs } = test;
    const request = { ...upload(uploadId), parts: [await send(layer, part(uploadId, 1, 'x'))] };
    beforeParts(test, async () => {
      await layer.abortMultipartUpload('bucket', 'key', uploadId);
      await removeQueuedBlobs({ records, blobs, now: Date.now() + 1, delay: 0 });
    });
    await expect(layer.completeMultipartUpload(request)).rejects.toMatchObject({ code: 'NoSuchUpload' });
  });

  it('does not take a part that was uploaded again meanwhile for the one that is listed', async () => {
    const test = await prepared();
    const { layer, uploadId } = test;
    const request = { ...upload(uploadId), parts: [await send(layer, part(uploadId, 1, 'x'))] };
    beforeParts(test, () => layer.putPart(part(uploadId, 1, 'y')));
    await expect(layer.completeMultipartUpload(request)).rejects.toMatchObject({ code: 'InvalidPart' });
  });

  it('ends in one way where a completion, a part and an abort come at once', async () => {
    const { layer, uploadId } = await prepared();
    const parts = [await send(layer, part(uploadId, 1, 'x'))];
    const [completed, sent] = await Promise.allSettled([
      layer.completeMultipartUpload({ ...upload(uploadId), parts }),
      layer.putPart(part(uploadId, 1, 'y')),
      layer.abortMultipartUpload('bucket', 'key', uploadId),
    ]);
    const object = await body(layer, 'bucket', 'key').then(String, () => undefined);
    const codes = [completed, sent].map((one) => one.status === 'rejected' && (one.reason as { code: string }).code);
    expect(object).toBe(completed.status === 'fulfilled' ? 'x' : undefined);
    expect([false, 'NoSuchUpload', 'InvalidPart']).toContain(codes[0]);
    expect([false, 'NoSuchUpload']).toContain(codes[1]);
  });

  it('is unknown to a repeated completion that lists other parts', async () => {
    const { layer, uploadId } = await prepared();
    const first = await send(layer, part(uploadId, 1, randomBody(5 * MIB)));
    const second = await send(layer, part(uploadId, 2, 'x'));
    await layer.completeMultipartUpload({ ...upload(uploadId), parts: [first, second] });
    for (const parts of [[first], [first, { ...second, partNumber: 3 }], [{ ...first, etag: second.etag }, second]]) {
      const again = layer.completeMultipartUpload({ ...upload(uploadId), parts });
      await expect(again).rejects.toMatchObject({ code: 'NoSuchUpload' });
    }
  });

  it('is unknown after it was aborted, to parts as to completion', async () => {
    const { layer, uploadId } = await prepared();
    const parts = [await send(layer, part(uploadId, 1, 'x'))];
    await layer.abortMultipartUpload('bucket', 'key', uploadId);
    const unknown = { code: 'NoSuchUpload' };
    await expect(layer.putPart(part(uploadId, 2, 'x'))).rejects.toMatchObject(unknown);
    await expect(layer.completeMultipartUpload({ ...upload(uploadId), parts })).rejects.toMatchObject(unknown);
    await expect(layer.abortMultipartUpload('bucket', 'key', uploadId)).rejects.toMatchObject(unknown);
    await expect(layer.listParts({ ...upload(uploadId), after: 0, limit: 10 })).rejects.toMatchObject(unknown);
  });

  it('is not found under another key, nor by an id that is none', async () => {
    const { layer, uploadId } = await prepared();
    const unknown = { code: 'NoSuchUpload' };
    await expect(layer.putPart(part(uploadId, 1, 'x', { key: 'other' }))).rejects.toMatchObject(unknown);
    await expect(layer.putPart(part('../../etc', 1, 'x'))).rejects.toMatchObject(unknown);
  });

  it('leaves no blob behind when aborted or when completed without some parts', async () => {
    const { layer, records, blobs, uploadId } = await prepared();
    const kept = await send(layer, part(uploadId, 1, 'kept'));
    await send(layer, part(uploadId, 2, 'not listed'));
    await layer.completeMultipartUpload({ ...upload(uploadId), parts: [kept] });
    const second = await layer.createMultipartUpload({ bucket: 'bucket', key: 'key', headers });
    await send(layer, part(second.uploadId, 1, 'aborted'));
    await layer.abortMultipartUpload('bucket', 'key', second.uploadId);
    await removeQueuedBlobs({ records, blobs, now: Date.now() + 1, delay: 0 });
    expect(await Array.fromAsync(blobs.list())).toHaveLength(1);
    expect(String(await body(layer, 'bucket', 'key'))).toBe('kept');
    for (const left of ['p', 'q', 'x', 'u']) expect(await Array.fromAsync(records.scan(within(left)))).toEqual([]);
  });

  it('gives the parts of an object up when that is deleted', async () => {
    const { layer, records, blobs, uploadId } = await prepared();
    const parts = [
      await send(layer, part(uploadId, 1, randomBody(5 * MIB))),
      await send(layer, part(uploadId, 2, 'x')),
    ];
    await layer.completeMultipartUpload({ ...upload(uploadId), parts });
    await layer.deleteObject('bucket', 'key');
    await removeQueuedBlobs({ records, blobs, now: Date.now() + 1, delay: 0 });
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
    const left = await Array.fromAsync(records.scan({ start: Buffer.from('c'), end: Buffer.of(255) }));
    expect(left).toEqual([]);
  });
});

describe('completing a multipart upload', () => {
  it('refuses parts that are out of order, twice there, unknown, or have another ETag', async () => {
    const { layer, uploadId } = await prepared();
    const one = await send(layer, part(uploadId, 1, randomBody(5 * MIB)));
    const two = await send(layer, part(uploadId, 2, 'x'));
    const complete = (parts: { partNumber: number; etag: string }[]) =>
      layer.completeMultipartUpload({ ...upload(uploadId), parts });
    await expect(complete([two, one])).rejects.toMatchObject({ code: 'InvalidPartOrder' });
    await expect(complete([one, one])).rejects.toMatchObject({ code: 'InvalidPartOrder' });
    await expect(complete([one, { partNumber: 3, etag: two.etag }])).rejects.toMatchObject({ code: 'InvalidPart' });
    await expect(complete([one, { partNumber: 2, etag: one.etag }])).rejects.toMatchObject({ code: 'InvalidPart' });
    await expect(complete([])).rejects.toMatchObject({ code: 'MalformedXML' });
    await expect(complete([one, two])).resolves.toMatchObject({ size: 5 * MIB + 1 });
  });

  it('refuses a part of less than 5 MiB that is not the last', async () => {
    const { layer, uploadId } = await prepared();
    const parts = [
      await send(layer, part(uploadId, 1, randomBody(5 * MIB - 1))),
      await send(layer, part(uploadId, 2, 'x')),
    ];
    const answer = layer.completeMultipartUpload({ ...upload(uploadId), parts });
    await expect(answer).rejects.toMatchObject({ code: 'EntityTooSmall', details: { PartNumber: '1' } });
  });

  it('refuses when the object is there and If-None-Match says it must not be', async () => {
    const { layer, uploadId } = await prepared();
    const parts = [await send(layer, part(uploadId, 1, 'x'))];
    await layer.putObject(put('bucket', 'key', 'there'));
    const answer = layer.completeMultipartUpload({ ...upload(uploadId), parts, conditions: { ifNoneMatch: ['*'] } });
    await expect(answer).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });

  it('makes one object, or none, when it races with an abort', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { layer, records, blobs, uploadId } = await prepared();
      const parts = [await send(layer, part(uploadId, 1, 'x'))];
      const [completed, aborted] = await Promise.allSettled([
        layer.completeMultipartUpload({ ...upload(uploadId), parts }),
        layer.abortMultipartUpload('bucket', 'key', uploadId),
      ]);
      expect([completed.status, aborted.status].filter((status) => status === 'fulfilled')).toHaveLength(1);
      await removeQueuedBlobs({ records, blobs, now: Date.now() + 1, delay: 0 });
      expect(await Array.fromAsync(blobs.list())).toHaveLength(completed.status === 'fulfilled' ? 1 : 0);
    }
  });
});

describe('a part', () => {
  it('has a number from 1 to 10,000', async () => {
    const { layer, uploadId } = await prepared();
    for (const number of [0, 10_001, 1.5, Number.NaN]) {
      await expect(layer.putPart(part(uploadId, number, 'x'))).rejects.toMatchObject({ code: 'InvalidArgument' });
    }
    await expect(layer.putPart(part(uploadId, 10_000, 'x'))).resolves.toMatchObject({ partNumber: 10_000 });
  });

  it('is copied from a range of an object', async () => {
    const { layer, uploadId } = await prepared();
    await layer.putObject(put('bucket', 'source', 'hello world', { encryption: { scheme: 'SSE-S3' } }));
    const { partNumber, etag } = await layer.copyPart({
      ...upload(uploadId),
      partNumber: 1,
      source: { bucket: 'bucket', key: 'source' },
      range: { kind: 'from', start: 6, endInclusive: 10 },
    });
    await layer.completeMultipartUpload({ ...upload(uploadId), parts: [{ partNumber, etag }] });
    expect(String(await body(layer, 'bucket', 'key'))).toBe('world');
  });

  it('is not copied from beyond the end of the source', async () => {
    const { layer, uploadId } = await prepared();
    await layer.putObject(put('bucket', 'source', 'hello'));
    const answer = layer.copyPart({
      ...upload(uploadId),
      partNumber: 1,
      source: { bucket: 'bucket', key: 'source' },
      range: { kind: 'from', start: 0, endInclusive: 5 },
    });
    await expect(answer).rejects.toMatchObject({ code: 'InvalidArgument' });
  });
});

describe('the checksum of a multipart upload', () => {
  const bodyChunks = [randomBody(5 * MIB), randomBody(1000)];

  async function completed(checksum: {
    algorithm: 'CRC32' | 'CRC64NVME' | 'SHA256';
    type: 'FULL_OBJECT' | 'COMPOSITE';
  }) {
    const { layer } = await prepared();
    const { uploadId } = await layer.createMultipartUpload({ bucket: 'bucket', key: 'key', headers, checksum });
    const parts = [];
    for (const [index, bytes] of bodyChunks.entries()) {
      const value = createHash('sha256').update(bytes).digest('base64');
      const digests = checksum.type === 'COMPOSITE' ? { checksum: { algorithm: 'SHA256' as const, value } } : {};
      const { etag, checksum: made } = await layer.putPart(part(uploadId, index + 1, bytes, { digests }));
      parts.push({
        partNumber: index + 1,
        etag,
        ...(made && { checksum: { algorithm: made.algorithm, value: made.value } }),
      });
    }
    return { layer, info: await layer.completeMultipartUpload({ ...upload(uploadId), parts }) };
  }

  for (const algorithm of ['CRC32', 'CRC64NVME'] as const) {
    it(`is that of the whole object: ${algorithm}, FULL_OBJECT`, async () => {
      const { layer, info } = await completed({ algorithm, type: 'FULL_OBJECT' });
      const digests = { compute: algorithm };
      const whole = await layer.putObject(put('bucket', 'whole', Buffer.concat(bodyChunks), { digests }));
      expect(info.checksum).toEqual(whole.checksum);
    });
  }

  it('is that of the checksums of the parts: SHA256, COMPOSITE', async () => {
    const { info } = await completed({ algorithm: 'SHA256', type: 'COMPOSITE' });
    const hash = createHash('sha256');
    for (const bytes of bodyChunks) hash.update(createHash('sha256').update(bytes).digest());
    expect(info.checksum?.value).toBe(`${hash.digest('base64')}-2`);
  });

  it('cannot be a SHA of the whole object, nor a CRC64NVME of parts', async () => {
    for (const checksum of [
      { algorithm: 'SHA256', type: 'FULL_OBJECT' },
      { algorithm: 'CRC64NVME', type: 'COMPOSITE' },
    ] as const) {
      const { layer } = await prepared();
      const answer = layer.createMultipartUpload({ bucket: 'bucket', key: 'key', headers, checksum });
      await expect(answer).rejects.toMatchObject({ code: 'InvalidRequest' });
    }
  });
});

describe('listing parts', () => {
  it('pages by part number', async () => {
    const { layer, uploadId } = await prepared();
    for (const number of [10_000, 2, 1, 30]) await send(layer, part(uploadId, number, String(number)));
    const first = await layer.listParts({ ...upload(uploadId), after: 0, limit: 2 });
    expect(first.parts.map(({ partNumber }) => partNumber)).toEqual([1, 2]);
    const second = await layer.listParts({ ...upload(uploadId), after: first.next ?? 0, limit: 2 });
    expect(second.parts.map(({ partNumber }) => partNumber)).toEqual([30, 10_000]);
    expect(second.next).toBeUndefined();
  });
});

describe('listing uploads', () => {
  it('pages by key and upload, with groups, and finds no delimiter in an id', async () => {
    const { layer } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    const keys = ['a', 'a', 'dir/x', 'dir/y', 'z', 'z'];
    for (const key of keys) await layer.createMultipartUpload({ bucket: 'bucket', key, headers });
    for (const [delimiter, expected] of [
      ['/', ['a', 'a', 'dir/', 'z', 'z']],
      ['', keys],
      ['0', keys],
    ] as const) {
      const seen: string[] = [];
      let next: { key: string; uploadId: string } | undefined = { key: '', uploadId: '' };
      while (next !== undefined) {
        const listing = await layer.listMultipartUploads({
          bucket: 'bucket',
          prefix: '',
          delimiter,
          afterKey: next.key,
          afterUploadId: next.uploadId,
          limit: 1,
        });
        seen.push(...listing.uploads.map(({ key }) => key), ...listing.commonPrefixes);
        next = listing.next;
      }
      expect(seen).toEqual(expected);
    }
  });

  it('goes on after all uploads of a key when no upload is named', async () => {
    const { layer } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    for (const key of ['a', 'a', 'b']) await layer.createMultipartUpload({ bucket: 'bucket', key, headers });
    const listing = await layer.listMultipartUploads({
      bucket: 'bucket',
      prefix: '',
      delimiter: '',
      afterKey: 'a',
      afterUploadId: '',
      limit: 10,
    });
    expect(listing.uploads.map(({ key }) => key)).toEqual(['b']);
  });

  it.each([
    ['small', 200, 1],
    ['large', 20, 40],
  ])('with %s groups reads no more than a few records for each', async (_, groups, uploads) => {
    const { layer, records } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    const folders = Array.from({ length: groups }, (__, at) => `${String(at).padStart(3, '0')}/`);
    for (const folder of folders) {
      for (let at = 0; at < uploads; at += 1) {
        await layer.createMultipartUpload({ bucket: 'bucket', key: `${folder}${at}`, headers });
      }
    }
    let asked = 0;
    const scan = records.scan.bind(records);
    // An engine reads a page of as many records at once.
    records.scan = (range) => {
      asked += range.limit ?? Infinity;
      return scan(range);
    };
    const all = { bucket: 'bucket', prefix: '', delimiter: '/', afterKey: '', afterUploadId: '', limit: 1_000 };
    expect((await layer.listMultipartUploads(all)).commonPrefixes).toEqual(folders);
    expect(asked).toBeLessThan(1_001 + 100 * groups);
  });
});
