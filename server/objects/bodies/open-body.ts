import { AsyncLocalStorage } from 'node:async_hooks';
import { JoinedChunks, type Chunks } from '../../streams/chunks.ts';
import type { CustomerKey, OpenedObjectKey } from '../../encryption/object-key.ts';
import { DecryptedChunks } from '../../encryption/package-decryptor.ts';
import { cipherRange, cipherSize, packageCuts } from '../../encryption/package-format.ts';
import { decryptBuffer } from '../../encryption/packages.ts';
import { type BlobId, isDamagedBlob } from '../../store/blob-store.ts';
import type { Entry } from '../../store/record-store.ts';
import { type BlockSumsContext, blockSumsOf, type PlainBlob } from './block-sums-of.ts';
import { CheckedBlocks } from './checked-blocks.ts';
import { holds } from '../checksums/block-sums.ts';
import type { ObjectContext } from '../context/context.ts';
import { recoverObjectKey } from '../encryption/object-keys.ts';
import type { ReadableObject } from '../contract/object-layer.ts';
import { type ObjectRecord, type Protection } from '../records/object-record.ts';
import { type ManifestPart } from '../records/body-records.ts';
import { decodeBody } from '../records/record-format.ts';
import type { VersionOrder } from '../records/record-format.ts';
import { copyOf } from '../records/restored-copy.ts';
import { isStoreError, StoreError } from '../../store/store-error.ts';
import { readManifest } from '../records/manifest.ts';

/**
 * Chunks of a source that is opened by the first `next`, so that errors of opening it come from `next` too. The source is read in the
 * async context that created this object, so that a trace shows the read below its request.
 */
class LazyChunks implements Chunks {
  readonly ownership = 'lent';
  readonly #open: () => Chunks;
  readonly #translate: (error: unknown) => unknown;
  readonly #inContext = AsyncLocalStorage.snapshot();
  #chunks: Chunks | undefined;
  #closed = false;

  /** @param translate converts an error of the source */
  constructor(open: () => Chunks, translate: (error: unknown) => unknown) {
    this.#open = open;
    this.#translate = translate;
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#closed) return undefined;
    try {
      return await this.#inContext(() => (this.#chunks ??= this.#open()).next());
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#chunks?.close();
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The object to open, and the client's key. */
interface Opened {
  readonly bucket: string;
  readonly key: string;
  /** The place of a noncurrent version. */
  readonly order?: VersionOrder | undefined;
  readonly customerKey: CustomerKey | undefined;
}

/** Opens ranges of the plaintext. */
type OpenBody = Pick<ReadableObject, 'read'>;

/**
 * Reads the key and the manifest of a body. `inline` was read with the record of the object. Returns undefined when the object was
 * replaced since then. Throws `KeyServiceError`.
 */
export async function openBody(
  context: ObjectContext,
  { bucket, key, order, customerKey }: Opened,
  record: ObjectRecord,
  inline: Entry | undefined,
): Promise<OpenBody | undefined> {
  const { body, id, sealed, size } = record;
  const what = `${bucket}/${key}`;
  const objectKey = sealed && (await recoverObjectKey(context, sealed, { bucket, key, id }, customerKey));
  if (body.kind === 'blob') {
    const stream = { blob: copyOf(record, body.blob) ?? body.blob, size, protection: body, objectKey, what };
    return { read: (range) => readBlob(context, stream, range) };
  }
  if (body.kind === 'inline') {
    const stored = inline && decodeBody(inline.value, id);
    if (stored === undefined) return undefined;
    return { read: (range) => readInline(stored, { size, protection: body, objectKey, what }, range) };
  }
  // A delete marker has no body, and no caller opens it.
  if (body.kind === 'none') throw new StoreError('unreadable-record', `${what} is a delete marker, which has no body`);
  const parts = await readManifest(context, { bucket, key, order }, record);
  const placed = parts?.map((part) => ({ ...part, blob: copyOf(record, part.blob) ?? part.blob }));
  return placed && { read: (range) => readParts(context, placed, { objectKey, what }, range) };
}

interface Stream {
  readonly size: number;
  readonly protection: Protection;
  readonly objectKey: OpenedObjectKey | undefined;
  readonly what: string;
}

function readInline(bytes: Buffer, stream: Stream, range: Range): Buffer {
  const { protection, objectKey, size, what } = stream;
  if (!('salt' in protection)) {
    if (bytes.length !== size || !holds(protection, bytes)) throw damaged(what);
    return bytes.subarray(range.start, range.end);
  }
  const cipher = cipherRange(range.start, range.end, size);
  const key = keyOf(stream, protection, objectKey);
  try {
    return decryptBuffer(bytes.subarray(cipher.start, cipher.end), { ...cipher, key, size });
  } catch (error) {
    if (isStoreError(error, 'ciphertext-damaged')) throw damaged(what, error);
    throw error;
  }
}

type BodyContext = Pick<ObjectContext, 'blobs'> & BlockSumsContext;

function readBlob(context: BodyContext, stream: Stream & { readonly blob: BlobId }, range: Range): Chunks {
  const { blob, protection, size, what } = stream;
  if (!('salt' in protection)) {
    return readPlain(context, { blob, size, protection, what }, range);
  }
  return new LazyChunks(
    () => {
      const cipher = cipherRange(range.start, range.end, size);
      const key = keyOf(stream, protection, stream.objectKey);
      const ciphertext = context.blobs.read(blob, {
        start: cipher.start,
        end: cipher.end,
        cuts: packageCuts,
        size: cipherSize(size),
      });
      return new DecryptedChunks(ciphertext, { ...cipher, key, size });
    },
    // The error of a truncated blob names only the blob.
    (error) => (isStoreError(error, 'ciphertext-damaged') || isDamagedBlob(error) ? damaged(what, error) : error),
  );
}

/** Reads a plain blob. Each block is checked before any of its bytes is returned. */
export function readPlain(context: BodyContext, plain: PlainBlob & { readonly what: string }, range: Range): Chunks {
  const { blob, size, what } = plain;
  const damage = (found: string) => damaged(what, new Error(`blob ${blob}: ${found}`));
  const open = () =>
    new CheckedBlocks({
      range,
      size,
      damage,
      read: (blocks, block) => context.blobs.read(blob, { ...blocks, cuts: { from: 0, every: block }, size }),
      async sums() {
        const sums = await blockSumsOf(context, plain);
        if (sums === undefined) throw damage('it does not have its checksum');
        return sums;
      },
    });
  return new LazyChunks(open, (error) => (isDamagedBlob(error) ? damaged(what, error) : error));
}

function readParts(
  context: BodyContext,
  parts: readonly ManifestPart[],
  object: { readonly objectKey: OpenedObjectKey | undefined; readonly what: string },
  range: Range,
): Chunks {
  function* opened() {
    let offset = 0;
    for (const part of parts) {
      const start = Math.max(range.start - offset, 0);
      const end = Math.min(range.end - offset, part.size);
      offset += part.size;
      if (start < end) yield readBlob(context, { ...part, ...object }, { start, end });
      if (offset >= range.end) return;
    }
  }
  return new JoinedChunks('lent', opened());
}

function keyOf(stream: Stream, protection: { readonly salt: string }, objectKey: OpenedObjectKey | undefined): Buffer {
  if (objectKey === undefined) throw damaged(stream.what);
  return objectKey.streamKey(protection.salt);
}

function damaged(what: string, cause?: Error): StoreError {
  const found = cause === undefined ? '' : ` (${cause.message})`;
  return new StoreError(
    'damaged-body',
    `the stored bytes of ${what} are damaged: they are not what was written${found}`,
    { cause },
  );
}
