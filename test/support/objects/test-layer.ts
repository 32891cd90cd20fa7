import { randomBytes } from 'node:crypto';
import { digestKeys, type DigestKeys } from '../../../server/encryption/digest-keys.ts';
import { keyServiceKeys } from '../../../server/encryption/key-service-keys.ts';
import type { KeySource } from '../../../server/encryption/key-source.ts';
import { FakeKeyService } from '../encryption/fake-key-service.ts';
import { recordKeys } from '../../../server/objects/records/record-format.ts';
import { commitOnce } from '../../../server/store/commits.ts';
import { MemoryBlobStore } from '../../../server/store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../../server/store/memory/record-store.ts';
import type { ObjectLayer, PutObject, RenameObject } from '../../../server/objects/contract/object-layer.ts';
import { createObjectLayer, type ObjectLayerOptions } from '../../../server/objects/objects.ts';
import { keptChunks, type Chunks } from '../../../server/streams/chunks.ts';
import { bodyFrom } from '../../../server/objects/contract/body-source.ts';

/** The same in all tests, so that several layers over the same records understand each other. */
export const testDigests: DigestKeys = digestKeys(() => Buffer.alloc(32, 7));

/** An object layer on the memory engines, for tests. */
export interface TestLayer {
  readonly layer: ObjectLayer;
  readonly records: MemoryRecordStore;
  readonly blobs: MemoryBlobStore;
  readonly keyService: FakeKeyService;
  readonly keys: KeySource;
}

export function testLayer(
  options: Partial<Omit<ObjectLayerOptions, 'records' | 'blobs'>> & Partial<Pick<TestLayer, 'records' | 'blobs'>> = {},
): TestLayer {
  const keyService = new FakeKeyService();
  const keys = options.keys ?? keyServiceKeys(keyService, { defaultKey: 'default-key' });
  const records = options.records ?? new MemoryRecordStore();
  const blobs = options.blobs ?? new MemoryBlobStore();
  return {
    layer: createObjectLayer({ digests: testDigests, ...options, records, blobs, keys }),
    records,
    blobs,
    keyService,
    keys,
  };
}

/** Makes the record of the current version of an object unreadable, as damage of the disk would. */
export async function damageRecord(
  { records }: Pick<TestLayer, 'records'>,
  bucket: string,
  key: string,
): Promise<void> {
  const damaged = { key: recordKeys.object(bucket, key), value: Buffer.from('damaged') };
  await commitOnce(records, { put: [damaged] }, randomBytes);
}

/** A put of these bytes, in chunks. */
export function put(
  bucket: string,
  key: string,
  bytes: Buffer | string,
  more: Partial<Omit<PutObject, 'body' | 'size'>> & {
    readonly size?: number;
    readonly body?: AsyncIterable<Buffer>;
    readonly chunk?: number;
  } = {},
): PutObject & { readonly size: number } {
  const buffer = Buffer.from(bytes);
  const { chunk, body: source, ...rest } = more;
  return {
    bucket,
    key,
    body: bodyFrom(source ?? chunks(buffer, chunk ?? 65_536)),
    size: buffer.length,
    digests: {},
    headers: { metadata: {} },
    ...rest,
  };
}

/** Returns the request of a rename without conditions, by a caller with all rights. */
export function rename(bucket: string, from: string, to: string): RenameObject {
  return {
    bucket,
    from,
    to,
    fromConditions: {},
    toConditions: {},
    onlyIds: [],
    onlyTargetId: undefined,
    clientToken: undefined,
    allowTags: () => Promise.resolve(),
    by: undefined,
  };
}

export async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function readAll(bodyChunks: Buffer | Chunks): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(keptChunks(bodyChunks)));
}

/** The whole body of an object. */
export async function body(layer: ObjectLayer, bucket: string, key: string, versionId?: string): Promise<Buffer> {
  const { info, read } = await layer.getObject(bucket, key, { versionId });
  return readAll(read({ start: 0, end: info.size }));
}

export function randomBody(size: number): Buffer {
  return randomBytes(size);
}
