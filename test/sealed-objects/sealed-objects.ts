import { createHash, randomBytes } from 'node:crypto';
import { type Key, keyFrom } from '../../keysvc/keys/key.ts';
import { seal, unseal } from '../../keysvc/keys/seal.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import type { KeySource } from '../../server/encryption/key-source.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { isBlobId, type BlobId } from '../../server/store/blob-store.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { keptChunks } from '../../server/streams/chunks.ts';

/** Of the key service, of the client: fixed for ever, and used nowhere else. */
const keys = { 'main-key': bytesOf('main-key'), 'second-key': bytesOf('second-key') } as const;
export const customerKeyBytes = bytesOf('customer-key');

/** What each object is, by its key. Bodies are made of their names, so that they need not be kept. */
export const expected = {
  'sse-s3-empty': { size: 0, kind: 'SSE-S3' },
  'sse-s3-inline': { size: 1_000, kind: 'SSE-S3' },
  'sse-kms-inline': { size: 1_000, kind: 'SSE-KMS' },
  'sse-kms-blob': { size: 70_000, kind: 'SSE-KMS' },
  'sse-kms-context': { size: 300, kind: 'SSE-KMS' },
  'sse-kms-parts': { size: 2_000, kind: 'SSE-KMS' },
  'sse-kms-resealed': { size: 300, kind: 'SSE-KMS' },
  'sse-c-inline': { size: 300, kind: 'SSE-C' },
} as const satisfies Record<string, { readonly size: number; readonly kind: string }>;

export type Name = keyof typeof expected;

/** The same bytes for the same name, on every machine. */
export function bodyOf(name: string, size: number): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; blocks.length * 32 < size; at += 1)
    blocks.push(createHash('sha256').update(`${name} ${at}`).digest());
  return Buffer.concat(blocks).subarray(0, size);
}

function bytesOf(name: string): Buffer {
  return createHash('sha256').update(`a key of a test: ${name}`).digest();
}

/** What a key service with the fixed keys answers, by its own code. */
export function fixedKeys(): KeySource {
  return keyServiceKeys(
    {
      async generateKey(name, context) {
        const plaintext = randomBytes(32);
        const key = keyOf(name);
        return { plaintext, ciphertext: seal(key, plaintext, context), version: key.id };
      },
      decryptKey: async (name, ciphertext, context) => unseal(keyOf(name), ciphertext, context),
    },
    { defaultKey: 'main-key' },
  );
}

function keyOf(name: string): Key {
  const bytes = Object.entries(keys).find(([known]) => known === name)?.[1];
  if (bytes === undefined) throw Object.assign(new Error(`there is no key ${name}`), { code: 'key-not-found' });
  return keyFrom(bytes, 'AES256-GCM_SHA256');
}

const shape = z.object({
  /** Hex keys, base64 values. */
  records: z.record(z.string(), z.string()),
  blobs: z.record(z.string(), z.string()),
});

function fileOf(version: string): string {
  return fileURLToPath(new URL(`sealed-${version}.json.gz`, import.meta.url));
}

/** The stores as the server of that version left them. */
export async function loadStores(version: string) {
  const text = gunzipSync(await readFile(fileOf(version))).toString();
  const stored = shape.parse(JSON.parse(text));
  const records = new MemoryRecordStore();
  for (const [key, value] of Object.entries(stored.records)) {
    const put = [{ key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'base64') }];
    await records.commit({ id: randomBytes(16).toString('hex'), put });
  }
  const disk = new Map<BlobId, unknown>();
  for (const [id, bytes] of Object.entries(stored.blobs)) {
    if (!isBlobId(id)) throw new TypeError(`${id} is no id of a blob`);
    disk.set(id, { bytes: Buffer.from(bytes, 'base64'), whole: true, written: 0 });
  }
  return { records, blobs: new MemoryBlobStore({ disk }) };
}

export async function saveStores(
  version: string,
  { records, blobs }: { readonly records: MemoryRecordStore; readonly blobs: MemoryBlobStore },
): Promise<void> {
  const stored: z.infer<typeof shape> = { records: {}, blobs: {} };
  for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.of(255) })) {
    if (item.kind === 'entry') stored.records[item.key.toString('hex')] = item.value.toString('base64');
  }
  for await (const { id, size } of blobs.list()) {
    const chunks: Buffer[] = [];
    for await (const chunk of keptChunks(blobs.read(id, { start: 0, end: size }))) chunks.push(chunk);
    stored.blobs[id] = Buffer.concat(chunks).toString('base64');
  }
  await writeFile(fileOf(version), gzipSync(JSON.stringify(stored), { level: 9 }));
}
