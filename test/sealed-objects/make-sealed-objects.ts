import { randomBytes } from 'node:crypto';
import { CustomerKey } from '../../server/encryption/object-key.ts';
import { rewrapObject } from '../../server/maintenance/rewrap/rewrap-records.ts';
import type { RequestedEncryption } from '../../server/objects/contract/object-layer.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { bodyOf, customerKeyBytes, expected, type Name, fixedKeys, saveStores } from './sealed-objects.ts';
import { Readable } from 'node:stream';
import { bodyFrom } from '../../server/objects/contract/body-source.ts';

/**
 * Writes the objects of `expected` as the server of today seals them: `node test/sealed-objects/make-sealed-objects.ts VERSION`. For a
 * new format, under a new version; what is there already is never written again, since it must open for ever.
 */
const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('name the version that these objects are of');

const bucket = 'sealed';
const stores = { records: new MemoryRecordStore(), blobs: new MemoryBlobStore() };
const keys = fixedKeys();
const layer = createObjectLayer({ ...stores, keys, inlineLimit: 10_000 });
await layer.createBucket(bucket, { location: '' });

async function put(key: Name, encryption: RequestedEncryption): Promise<void> {
  const { size } = expected[key];
  const body = bodyFrom(Readable.from([bodyOf(key, size)]));
  await layer.putObject({ bucket, key, body, size, digests: {}, headers: { metadata: {} }, encryption });
}

await put('sse-s3-empty', { scheme: 'SSE-S3' });
await put('sse-s3-inline', { scheme: 'SSE-S3' });
await put('sse-kms-inline', { scheme: 'SSE-KMS' });
await put('sse-kms-blob', { scheme: 'SSE-KMS', keyName: 'second-key', bucketKey: true });
await put('sse-kms-context', { scheme: 'SSE-KMS', context: { of: 'the client', '<&>': 'ü' } });
await put('sse-c-inline', { scheme: 'SSE-C', customerKey: new CustomerKey(customerKeyBytes) });
await put('sse-kms-resealed', { scheme: 'SSE-KMS', keyName: 'main-key' });
const sealing = { ...stores, keys, random: randomBytes, clock: Date.now, keyUses: new Map<string, number>() };
await rewrapObject({ ...sealing, from: 'main-key', to: 'second-key' }, { bucket, key: 'sse-kms-resealed' });

const key = 'sse-kms-parts';
const upload = { bucket, key, headers: { metadata: {} }, encryption: { scheme: 'SSE-KMS' } } as const;
const { uploadId } = await layer.createMultipartUpload(upload);
const { size } = expected[key];
const body = bodyFrom(Readable.from([bodyOf(key, size)]));
const part = await layer.putPart({ bucket, key, uploadId, partNumber: 1, size, digests: {}, body });
await layer.completeMultipartUpload({ bucket, key, uploadId, parts: [{ partNumber: 1, etag: part.etag }] });
await saveStores(version, stores);
