import { readFile, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { isBlobId, type BlobId } from '../../server/store/blob-store.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';

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
    for await (const chunk of blobs.read(id, { start: 0, end: size }) as AsyncIterable<Buffer>) chunks.push(chunk);
    stored.blobs[id] = Buffer.concat(chunks).toString('base64');
  }
  await writeFile(fileOf(version), gzipSync(JSON.stringify(stored), { level: 9 }));
}
