import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DigestSearch } from '../../../test/sealed-digests/find-digests.ts';
import { CustomerKey } from '../../encryption/object-key.ts';
import { noDigestKeys } from '../../encryption/digest-keys.ts';
import { commitOnce } from '../../store/commits.ts';
import type { Checksum, PutObject, RequestedEncryption } from '../contract/object-layer.ts';
import { recordKeys } from '../records/record-format.ts';
import { put, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';

const customerKey = new CustomerKey(Buffer.alloc(32, 3));
const schemes = {
  'SSE-S3': { scheme: 'SSE-S3' },
  'SSE-KMS': { scheme: 'SSE-KMS' },
  'SSE-C': { scheme: 'SSE-C', customerKey },
} as const satisfies Record<string, RequestedEncryption>;
const cases = Object.entries(schemes);
const algorithms: readonly Checksum['algorithm'][] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];
const PIN = '4711';
const FIRST = Buffer.alloc(5 * 1024 * 1024, '0815');

/** All values of records. Bodies of blobs are ciphertext. */
async function stored({ records }: TestLayer): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.of(255) })) {
    if (item.kind === 'entry') found.push(item.value);
  }
  return Buffer.concat(found);
}

async function withBucket(options?: Parameters<typeof testLayer>[0]): Promise<TestLayer> {
  const test = testLayer(options);
  await test.layer.createBucket('bucket', { location: '' });
  return test;
}

function keyOf(encryption: RequestedEncryption | undefined): { customerKey?: CustomerKey } {
  return encryption?.scheme === 'SSE-C' ? { customerKey: encryption.customerKey } : {};
}

function only(etag: string) {
  return { ifMatch: [etag], size: undefined, lastModified: undefined };
}

/** An upload of two parts under way. */
async function upload({ layer }: TestLayer, encryption: RequestedEncryption | undefined, checksum?: Checksum) {
  const headers = { metadata: {} };
  const named = { bucket: 'bucket', key: 'parts', headers };
  const { uploadId } = await layer.createMultipartUpload({
    ...named,
    ...(encryption && { encryption }),
    ...(checksum && { checksum }),
  });
  const parts = [];
  for (const [index, bytes] of [FIRST, Buffer.from(PIN)].entries()) {
    const part = { uploadId, partNumber: index + 1, ...keyOf(encryption) };
    // A composite checksum needs that of each part.
    const hash = checksum?.type === 'COMPOSITE' ? checksum.algorithm : undefined;
    const value = hash && createHash(hash.toLowerCase()).update(bytes).digest('base64');
    const digests = hash && value !== undefined ? { checksum: { algorithm: hash, value } } : {};
    const stored = await layer.putPart({ ...put('bucket', 'parts', bytes, { digests }), ...part });
    parts.push({
      partNumber: index + 1,
      etag: stored.etag,
      ...(stored.checksum && { checksum: stored.checksum }),
    });
  }
  return { bucket: 'bucket', key: 'parts', uploadId, parts };
}

const contents: readonly (readonly [string, Buffer])[] = [
  ['the PIN', Buffer.from(PIN)],
  ['the first part', FIRST],
  ['the whole', Buffer.concat([FIRST, Buffer.from(PIN)])],
];

/** Values of 32 bits as they are count too: in so few records they come by chance once in 10,000 searches. */
function readable(bytes: Buffer): string[] {
  const search = new DigestSearch(contents);
  search.add(bytes);
  return [...search.found(), ...search.short().hits];
}

/** Completes the upload without encryption, once for each algorithm. */
const completedPlain = new Map<string, Promise<{ readonly etag: string; readonly checksum?: Checksum | undefined }>>();

async function completePlain(checksum: Checksum) {
  const plain = await withBucket();
  return plain.layer.completeMultipartUpload(await upload(plain, undefined, checksum));
}

/** Keys and ids are others then. */
const againIfByChance = { retry: 1 } as const;

describe('digests of encrypted objects', () => {
  it('are found where an object is plain', async () => {
    const test = await withBucket();
    for (const algorithm of algorithms) {
      await test.layer.putObject(put('bucket', algorithm, PIN, { digests: { compute: algorithm } }));
    }
    const found = readable(await stored(test));
    expect(found).toContain('MD5 of the PIN, hexadecimal');
    for (const algorithm of algorithms) expect(found).toContain(`${algorithm} of the PIN, base64`);
  });

  it.each(cases)('are not readable in the records of %s, and shown as ever', againIfByChance, async (_, encryption) => {
    const test = await withBucket();
    const { layer } = test;
    for (const algorithm of algorithms) {
      const info = await layer.putObject(
        put('bucket', algorithm, PIN, { digests: { compute: algorithm }, encryption }),
      );
      expect(info.checksum?.algorithm).toBe(algorithm);
      const shown = await layer.headObject('bucket', algorithm, keyOf(encryption));
      expect(shown).toEqual(info);
      const read = await layer.getObject('bucket', algorithm, {
        conditions: { ifMatch: [info.etag] },
        ...keyOf(encryption),
      });
      expect(read.info).toEqual(info);
    }
    expect(readable(await stored(test))).toEqual([]);
  });

  it.each(
    cases.flatMap(([scheme, encryption]) => algorithms.map((algorithm) => [scheme, algorithm, encryption] as const)),
  )('are not readable in parts and manifests of %s with %s', againIfByChance, async (_, algorithm, encryption) => {
    const test = await withBucket();
    const { layer } = test;
    const type = algorithm.startsWith('CRC') ? 'FULL_OBJECT' : 'COMPOSITE';
    const checksum = { algorithm, type, value: '' } as const;
    const begun = await upload(test, encryption, checksum);
    expect(readable(await stored(test))).toEqual([]);
    const given = keyOf(encryption);
    const listed = await layer.listParts({ ...begun, after: 0, limit: 10, ...given });
    const completed = completedPlain.get(algorithm) ?? completePlain(checksum);
    completedPlain.set(algorithm, completed);
    const expected = await completed;
    const info = await layer.completeMultipartUpload({ ...begun, ...given });
    expect(listed.parts.map((part) => part.checksum?.algorithm)).toEqual([algorithm, algorithm]);
    expect(info.checksum).toEqual(expected.checksum);
    if (encryption.scheme === 'SSE-S3') expect(info.etag).toBe(expected.etag);
    expect(await layer.completeMultipartUpload({ ...begun, ...given })).toEqual(info);
    expect(await layer.headObject('bucket', 'parts', given)).toEqual(info);
    expect(readable(await stored(test))).toEqual([]);
  });

  it('are those of the plaintext with SSE-S3, in listings too', async () => {
    const { layer } = await withBucket();
    const etags = new Map<string, string>();
    for (let at = 0; at < 600; at += 1) {
      const body = `content ${at}`;
      const key = String(at).padStart(4, '0');
      const encryption = at % 3 === 0 ? undefined : schemes['SSE-S3'];
      const { etag } = await layer.putObject(put('bucket', key, body, encryption && { encryption }));
      expect(etag).toBe(createHash('md5').update(body).digest('hex'));
      etags.set(key, etag);
    }
    const { uploadId, parts, ...named } = await upload({ layer } as TestLayer, schemes['SSE-S3']);
    etags.set('parts', (await layer.completeMultipartUpload({ ...named, uploadId, parts })).etag);
    const cold = await layer.putObject(
      put('bucket', 'x', 'cold', { encryption: schemes['SSE-S3'], headers: { metadata: {}, storageClass: 'GLACIER' } }),
    );
    etags.set('x', cold.etag);
    const request = { bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 1000 };
    const { objects } = await layer.listObjects(request);
    expect(new Map(objects.map(({ key, etag }) => [key, etag]))).toEqual(etags);
    expect(objects.every(({ damage }) => damage === undefined)).toBe(true);
  });

  it('hold the conditions of requests', async () => {
    const { layer } = await withBucket();
    const encryption = schemes['SSE-S3'];
    const { etag } = await layer.putObject(put('bucket', 'key', PIN, { encryption }));
    const other = 'f'.repeat(32);
    const rejected = { code: 'PreconditionFailed' };
    await expect(layer.getObject('bucket', 'key', { conditions: { ifMatch: [other] } })).rejects.toMatchObject(
      rejected,
    );
    await expect(layer.headObject('bucket', 'key', { conditions: { ifNoneMatch: [etag] } })).rejects.toMatchObject({
      code: 'NotModified',
    });
    const conditioned = (conditions: NonNullable<PutObject['conditions']>) =>
      layer.putObject(put('bucket', 'key', PIN, { encryption, conditions }));
    await expect(conditioned({ ifMatch: [other] })).rejects.toMatchObject(rejected);
    await expect(conditioned({ ifNoneMatch: ['*'] })).rejects.toMatchObject(rejected);
    await conditioned({ ifMatch: [etag] });
    await expect(layer.deleteObject('bucket', 'key', { conditions: only(other) })).rejects.toMatchObject(rejected);
    await layer.deleteObject('bucket', 'key', { conditions: only(etag) });
  });

  it('of SSE-C parts need the key of the client where the upload has checksums', async () => {
    const test = await withBucket();
    const { layer } = test;
    const begun = await upload(test, schemes['SSE-C'], { algorithm: 'CRC32', type: 'FULL_OBJECT', value: '' });
    const { parts } = await layer.listParts({ ...begun, after: 0, limit: 10 });
    expect(parts.map(({ checksum }) => checksum)).toEqual([undefined, undefined]);
    const rejected = { code: 'InvalidRequest' };
    await expect(layer.completeMultipartUpload(begun)).rejects.toMatchObject(rejected);
    const wrong = new CustomerKey(Buffer.alloc(32, 4));
    await expect(layer.completeMultipartUpload({ ...begun, customerKey: wrong })).rejects.toMatchObject(rejected);
    await layer.completeMultipartUpload({ ...begun, customerKey });
    const without = await upload(test, schemes['SSE-C']);
    await layer.completeMultipartUpload(without);
  });

  it('are never written plain where the backend is not sealed: 503', async () => {
    const test = await withBucket({ digests: noDigestKeys });
    const encryption = schemes['SSE-S3'];
    const rejected = { code: 'ServiceUnavailable', message: expect.stringContaining('key service') as string };
    await expect(test.layer.putObject(put('bucket', 'key', PIN, { encryption }))).rejects.toMatchObject(rejected);
    await expect(
      test.layer.putObject(put('bucket', 'key', randomBytes(300_000), { encryption })),
    ).rejects.toMatchObject(rejected);
    expect(await Array.fromAsync(test.blobs.list())).toEqual([]);
    // Nothing of these is sealed under the key of the bucket.
    await test.layer.putObject(put('bucket', 'key', PIN, { encryption: schemes['SSE-C'] }));
  });

  it('that were changed are noticed: an error for the object, a mark in the listing', async () => {
    const { layer, records } = await withBucket();
    for (const key of ['one', 'two']) {
      await layer.putObject(put('bucket', key, PIN, { encryption: schemes['SSE-S3'], digests: { compute: 'CRC32' } }));
    }
    const entry = await records.get(recordKeys.object('bucket', 'one'));
    const value = Buffer.from(entry?.value ?? '');
    value[30] = (value[30] ?? 0) ^ 1;
    await commitOnce(records, { put: [{ key: recordKeys.object('bucket', 'one'), value }] }, randomBytes);
    await expect(layer.headObject('bucket', 'one')).rejects.toThrow('not authentic');
    const { objects } = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 9 });
    expect(objects).toMatchObject([
      { key: 'one', etag: '', damage: { what: expect.stringContaining('not authentic') as string } },
      { key: 'two', etag: createHash('md5').update(PIN).digest('hex'), damage: undefined },
    ]);
    await layer.deleteObject('bucket', 'one');
  });
});
