import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { cipherRange } from '../encryption/package-layout.ts';
import { DamagedCiphertext, decryptBuffer, decryptStream, streamKey } from '../encryption/packages.ts';
import type { BlobId } from '../store/blob-store.ts';
import type { Entry } from '../store/record-store.ts';
import { Gmac } from './checksums/gmac.ts';
import type { Environment } from './environment.ts';
import { recoverObjectKey } from './object-keys.ts';
import type { ReadableObject } from './object-layer.ts';
import { decodeBody } from './records/body-record.ts';
import type { ManifestPart } from './records/manifest.ts';
import type { ObjectRecord, Protection } from './records/object-record.ts';
import { readManifest } from './supersede-object.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The bytes are not those that were stored. What was given of them before is right where they are encrypted. */
export class DamagedBody extends Error {
  override readonly name = 'DamagedBody';
}

/** Opens ranges of the plaintext. */
export type OpenBody = Pick<ReadableObject, 'open' | 'bytes'>;

/**
 * Reads what a body needs besides its bytes: key and manifest. `inline` was read with the object's record. Undefined when the object
 * was replaced since its record was read. Throws `KeySourceError`.
 */
export async function openBody(
  environment: Environment,
  bucket: string,
  key: string,
  record: ObjectRecord,
  inline: Entry | undefined,
): Promise<OpenBody | undefined> {
  const { body, id, sealed, size } = record;
  const what = `${bucket}/${key}`;
  const objectKey = sealed && (await recoverObjectKey(environment, sealed, { bucket, key, id }));
  if (body.kind === 'blob') {
    const stream = { blob: body.blob, size, protection: body, objectKey, what };
    return { open: (range) => readable(readBlob(environment, stream, range)) };
  }
  if (body.kind === 'inline') {
    const stored = inline && decodeBody(inline.value, id);
    if (stored === undefined) return undefined;
    const bytes = (range: Range) => readInline(stored, { size, protection: body, objectKey, what }, range);
    return { open: (range) => readableBuffer(() => bytes(range)), bytes };
  }
  const parts = await readManifest(environment, bucket, key, record);
  return parts && { open: (range) => readable(readParts(environment, parts, { objectKey, what }, range)) };
}

interface Stream {
  readonly size: number;
  readonly protection: Protection;
  readonly objectKey: Buffer | undefined;
  readonly what: string;
}

function readInline(bytes: Buffer, stream: Stream, range: Range): Buffer {
  const { protection, objectKey, size, what } = stream;
  if ('crc' in protection) {
    if (bytes.length !== size || crc32(bytes) !== protection.crc) throw damaged(what);
    return bytes.subarray(range.start, range.end);
  }
  const cipher = cipherRange(range.start, range.end, size);
  const key = keyOf(stream, protection, objectKey);
  try {
    return decryptBuffer(bytes.subarray(cipher.start, cipher.end), { ...cipher, key, size });
  } catch (error) {
    if (error instanceof DamagedCiphertext) throw damaged(what, error);
    throw error;
  }
}

async function* readBlob(
  environment: Environment,
  stream: Stream & { readonly blob: BlobId },
  range: Range,
): AsyncGenerator<Buffer> {
  const { blob, protection, objectKey, size, what } = stream;
  if ('crc' in protection) {
    const whole = range.start === 0 && range.end === size;
    yield* verifyPlain(
      environment.blobs.read(blob, range),
      range.end - range.start,
      whole ? checkOf(protection) : undefined,
      what,
    );
    return;
  }
  const cipher = cipherRange(range.start, range.end, size);
  const key = keyOf(stream, protection, objectKey);
  try {
    yield* decryptStream(environment.blobs.read(blob, cipher), { ...cipher, key, size });
  } catch (error) {
    if (error instanceof DamagedCiphertext) throw damaged(what, error);
    throw error;
  }
}

async function* readParts(
  environment: Environment,
  parts: readonly ManifestPart[],
  object: { readonly objectKey: Buffer | undefined; readonly what: string },
  range: Range,
): AsyncGenerator<Buffer> {
  let offset = 0;
  for (const part of parts) {
    const start = Math.max(range.start - offset, 0);
    const end = Math.min(range.end - offset, part.size);
    offset += part.size;
    if (start < end) yield* readBlob(environment, { ...part, ...object }, { start, end });
    if (offset >= range.end) return;
  }
}

interface Check {
  update(bytes: Buffer): void;
  holds(): boolean;
}

function checkOf({ crc, gmac }: { readonly crc: number; readonly gmac?: string }): Check {
  if (gmac !== undefined) {
    const mac = new Gmac();
    return { update: (bytes) => mac.update(bytes), holds: () => mac.digest() === gmac };
  }
  let sum = 0;
  return {
    update(bytes) {
      sum = crc32(bytes, sum);
    },
    holds: () => sum === crc,
  };
}

/** Holds each chunk back until the next one came, so that a body that turns out damaged never looks finished to the reader. */
async function* verifyPlain(
  source: AsyncIterable<Buffer>,
  length: number,
  check: Check | undefined,
  what: string,
): AsyncGenerator<Buffer> {
  let held: Buffer | undefined;
  let total = 0;
  for await (const chunk of source) {
    if (held !== undefined) yield held;
    held = chunk;
    total += chunk.length;
    check?.update(chunk);
  }
  if (total !== length || check?.holds() === false) throw damaged(what);
  if (held !== undefined) yield held;
}

function keyOf(stream: Stream, protection: { readonly salt: string }, objectKey: Buffer | undefined): Buffer {
  if (objectKey === undefined) throw damaged(stream.what);
  return streamKey(objectKey, Buffer.from(protection.salt, 'base64'));
}

function damaged(what: string, cause?: Error): DamagedBody {
  return new DamagedBody(`the stored bytes of ${what} are damaged: they are not what was written`, { cause });
}

function readable(chunks: AsyncIterable<Buffer>): Readable {
  return Readable.from(chunks, { objectMode: false });
}

/** Cheaper than a generator, for the many small ones. */
function readableBuffer(read: () => Buffer): Readable {
  return new Readable({
    read() {
      try {
        this.push(read());
        this.push(null);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}
