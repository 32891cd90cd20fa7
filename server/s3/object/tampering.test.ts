import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PACKAGE_SIZE, TAG_SIZE } from '../../encryption/package-format.ts';
import { decodeObject, encodeObject, type ObjectRecord } from '../../objects/records/object-record.ts';
import { decodeBody, encodeBody } from '../../objects/records/record-format.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import { put, readAll, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';
import { keptChunks } from '../../streams/chunks.ts';
import { asS3Error } from '../../http/contract/error-answer.ts';

const whole = PACKAGE_SIZE + TAG_SIZE;
const size = 3 * PACKAGE_SIZE + 10;
const encryption = { scheme: 'SSE-KMS', context: { a: 'b' } } as const;

/** Two objects of three packages and a bit in each of two buckets, as blobs or in the record store, and ways to change what is stored. */
async function prepared(kind: 'blob' | 'inline') {
  const blobs = new Map<BlobId, { bytes: Buffer; whole: boolean; written: number }>();
  const test = testLayer({
    inlineLimit: kind === 'inline' ? 1_000_000 : 10,
    blobs: new MemoryBlobStore({ disk: blobs }),
  });
  for (const bucket of ['bucket', 'other']) {
    await test.layer.createBucket(bucket, { location: '' });
    for (const key of ['a', 'b']) await test.layer.putObject(put(bucket, key, randomBytes(size), { encryption }));
  }
  const record = async (bucket: string, key: string) => {
    const entry = await test.records.get(recordKeys.object(bucket, key));
    return decodeObject(entry?.value ?? Buffer.alloc(0), bucket, key);
  };
  const commit = (key: Buffer, value: Buffer) =>
    test.records.commit({ id: randomBytes(16).toString('hex'), put: [{ key, value }] });

  async function stored(bucket: string, key: string): Promise<Buffer> {
    const { body, id } = await record(bucket, key);
    if (body.kind === 'blob') return blobs.get(body.blob)?.bytes ?? Buffer.alloc(0);
    const entry = await test.records.get(recordKeys.inline(bucket, key));
    return (entry && decodeBody(entry.value, id)) ?? Buffer.alloc(0);
  }

  async function store(bucket: string, key: string, bytes: Buffer): Promise<void> {
    const { body, id } = await record(bucket, key);
    if (body.kind === 'blob') blobs.set(body.blob, { bytes, whole: true, written: 0 });
    else await commit(recordKeys.inline(bucket, key), encodeBody(id, bytes));
  }

  return {
    ...test,
    stored,
    store,
    change: async (
      bucket: string,
      key: string,
      change: (record: ObjectRecord) => ObjectRecord | Promise<ObjectRecord>,
    ) => commit(recordKeys.object(bucket, key), encodeObject(await change(await record(bucket, key)))),
    record,
  };
}

type Prepared = Awaited<ReturnType<typeof prepared>>;

/** Returns the client's error of a failed read, and the log's. */
async function refusalOf({ layer }: TestLayer): Promise<{ told: unknown; log: string; plaintext: number }> {
  let plaintext = 0;
  try {
    const { read, info } = await layer.getObject('bucket', 'a');
    for await (const chunk of keptChunks(read({ start: 0, end: info.size }))) plaintext += chunk.length;
  } catch (error) {
    const { wireCode, status, message } = asS3Error(error);
    return { told: { wireCode, status, message }, log: causes(error), plaintext };
  }
  throw new Error('the read succeeded');
}

function causes(error: unknown): string {
  return error instanceof Error ? `${error.message}; ${causes(error.cause)}` : '';
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 4;
  return copy;
}

const cut = (from: number, to: number) => (bytes: Buffer) =>
  Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
const header = 1;

const ofBodies: readonly (readonly [string, (test: Prepared) => Promise<Buffer>, string])[] = [
  ['a flipped bit', async ({ stored }) => flipped(await stored('bucket', 'a'), whole + 9), 'package 1'],
  [
    'a flipped bit of a tag',
    async ({ stored }) => flipped(await stored('bucket', 'a'), header + whole - 1),
    'package 0',
  ],
  [
    'its last package cut off',
    async ({ stored }) => (await stored('bucket', 'a')).subarray(0, header + 3 * whole),
    'damaged',
  ],
  ['its last bytes cut off', async ({ stored }) => (await stored('bucket', 'a')).subarray(0, -3), 'damaged'],
  [
    'a package taken out',
    async ({ stored }) => cut(header + whole, header + 2 * whole)(await stored('bucket', 'a')),
    'damaged',
  ],
  [
    'two packages in the other order',
    async ({ stored }) => {
      const bytes = await stored('bucket', 'a');
      const [first, second] = [
        bytes.subarray(header, header + whole),
        bytes.subarray(header + whole, header + 2 * whole),
      ];
      return Buffer.concat([bytes.subarray(0, header), second, first, bytes.subarray(header + 2 * whole)]);
    },
    'package 0',
  ],
  [
    'a package of another object',
    async ({ stored }) => {
      const bytes = Buffer.from(await stored('bucket', 'a'));
      (await stored('bucket', 'b')).copy(bytes, header + whole, header + whole, header + 2 * whole);
      return bytes;
    },
    'package 1',
  ],
  ['the body of another object', ({ stored }) => stored('bucket', 'b'), 'package 0'],
  ['an unknown format', async ({ stored }) => flipped(await stored('bucket', 'a'), 0), 'unknown format'],
];

const ofRecords: readonly (readonly [string, (test: Prepared) => Promise<unknown>, string])[] = [
  [
    "another object's sealed key",
    async ({ change: edit, record }) => {
      const { sealed } = await record('bucket', 'b');
      return edit('bucket', 'a', (own) => ({ ...own, ...(sealed && { sealed }) }));
    },
    'the sealed key of object bucket/a is not authentic',
  ],
  [
    "another object's record",
    async ({ change: edit, record }) => {
      const other = await record('bucket', 'b');
      return edit('bucket', 'a', ({ body, id }) => ({ ...other, body, id }));
    },
    'the sealed key of object bucket/a is not authentic',
  ],
  [
    "another bucket's context",
    async ({ change: edit, record }) => {
      const { sealed } = await record('other', 'a');
      return edit('bucket', 'a', (own) => ({ ...own, ...(sealed && { sealed }) }));
    },
    'a data key of default-key is not authentic',
  ],
  [
    "another client's context",
    ({ change: edit }) =>
      edit('bucket', 'a', ({ sealed, ...own }) =>
        sealed?.scheme === 'SSE-KMS' ? { ...own, sealed: { ...sealed, context: { a: 'c' } } } : own,
      ),
    'a data key of default-key is not authentic',
  ],
  [
    'another salt',
    ({ change: edit }) =>
      edit('bucket', 'a', ({ body, ...own }) => ({
        ...own,
        body: body.kind === 'parts' ? body : { ...body, salt: randomBytes(16).toString('base64') },
      })),
    'package 0',
  ],
  ['another size', ({ change: edit }) => edit('bucket', 'a', (own) => ({ ...own, size: own.size - 1 })), 'damaged'],
];

describe.each(['blob', 'inline'] as const)('what is tampered with in a body kept as %s', (kind) => {
  it.each(ofBodies)('%s is refused', async (_what, tampered, said) => {
    const test = await prepared(kind);
    await test.store('bucket', 'a', await tampered(test));
    const { told, log, plaintext } = await refusalOf(test);
    expect(told).toEqual({ wireCode: 'InternalError', status: 500, message: opaque });
    expect(log).toContain(said);
    expect(log).toContain('bucket/a');
    expect(plaintext).toBeLessThanOrEqual(3 * PACKAGE_SIZE);
  });

  it.each(ofRecords)('%s is refused', async (_what, tamper, said) => {
    const test = await prepared(kind);
    await tamper(test);
    const { told, log } = await refusalOf(test);
    expect(told).toEqual({ wireCode: 'InternalError', status: 500, message: opaque });
    expect(log).toContain(said);
  });

  it('leaves what was not touched readable', async () => {
    const test = await prepared(kind);
    await test.store('bucket', 'a', await test.stored('bucket', 'b'));
    const { read, info } = await test.layer.getObject('bucket', 'b');
    expect(await readAll(read({ start: 0, end: info.size }))).toHaveLength(size);
  });
});

const opaque = 'We encountered an internal error. Please try again.';
