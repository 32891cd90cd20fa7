import { errorText } from '../../../platform/errors/system-error.ts';
import { eachChunk } from '../../streams/chunks.ts';
import { cipherRange, cipherSize, HEADER_SIZE, STREAM_FORMAT } from '../../encryption/package-format.ts';
import type { OpenedObjectKey } from '../../encryption/object-key.ts';
import { decryptBuffer, decryptStream } from '../../encryption/packages.ts';
import type { BlockSumsHasher } from '../../objects/checksums/block-sums.ts';
import { storedCheck } from '../../objects/records/stored-check.ts';
import type { Protection } from '../../objects/records/object-record.ts';
import { type BlobId, type BlobStore, isDamagedBlob } from '../../store/blob-store.ts';
import { isStoreError, isStoreUnavailable, type StoreError } from '../../store/store-error.ts';

/** The stored bytes of a body or a part. */
export interface StoredStream {
  /** Plaintext bytes. */
  readonly size: number;
  readonly protection: Protection;
  /** With the key, the packages of an encrypted stream are decrypted too. */
  readonly objectKey?: OpenedObjectKey | undefined;
}

export interface Damage {
  /** `unreadable`: the store failed to read the bytes, which says nothing about them. */
  readonly kind: 'missing' | 'damaged' | 'unreadable';
  readonly message: string;
}

/** Returns the size of a stream in the store. */
export function storedSize({ size, protection }: StoredStream): number {
  return 'salt' in protection ? cipherSize(size) : size;
}

/** Checks the bytes of an inline body. Returns undefined where they are whole. */
export function checkBytes(bytes: Buffer, stream: StoredStream): Damage | undefined {
  const { protection, objectKey, size } = stream;
  const expected = storedSize(stream);
  if (bytes.length !== expected) return damaged(`has ${bytes.length} bytes instead of ${expected}`);
  const check = storedCheck(protection);
  check?.update(bytes);
  if (check?.holds() === false) return damaged('does not have its checksum');
  if (!('salt' in protection)) return undefined;
  if (bytes[0] !== STREAM_FORMAT) return damaged(`begins with the unknown format ${bytes[0]}`);
  if (objectKey === undefined) return undefined;
  try {
    decryptBuffer(bytes, { ...cipherRange(0, size, size), key: objectKey.streamKey(protection.salt), size });
    return undefined;
  } catch (error) {
    return damageOf(error);
  }
}

/**
 * Checks a whole blob in one read. `paced` is called with the size of each chunk before the next one is read; `sums` receives each
 * chunk.
 */
export async function checkBlob(
  blobs: BlobStore,
  blob: BlobId,
  stream: StoredStream,
  paced: (bytes: number) => Promise<void> | void,
  sums?: BlockSumsHasher,
): Promise<Damage | undefined> {
  const { protection, objectKey, size } = stream;
  const expected = storedSize(stream);
  const check = storedCheck(protection);
  let total = 0;
  let format: number | undefined;
  async function* bytes() {
    for await (const chunk of eachChunk(blobs.read(blob, { start: 0, end: expected }))) {
      format ??= chunk[HEADER_SIZE - 1];
      check?.update(chunk);
      sums?.update(chunk);
      total += chunk.length;
      yield chunk;
      await paced(chunk.length);
    }
  }
  try {
    const content =
      'salt' in protection && objectKey !== undefined
        ? decryptStream(bytes(), { ...cipherRange(0, size, size), key: objectKey.streamKey(protection.salt), size })
        : bytes();
    for await (const _chunk of content);
  } catch (error) {
    return damageOf(error);
  }
  if (total !== expected) return damaged(`has ${total} bytes instead of ${expected}`);
  if (check?.holds() === false) return damaged('does not have its checksum');
  if ('salt' in protection && format !== STREAM_FORMAT) return damaged(`begins with the unknown format ${format}`);
  return (await isLonger(blobs, blob, expected)) ? tooLong(expected) : undefined;
}

/** Checks that a blob exists with its size, without reading it. */
export async function checkBlobSize(blobs: BlobStore, blob: BlobId, stream: StoredStream): Promise<Damage | undefined> {
  const expected = storedSize(stream);
  try {
    if (expected > 0) for await (const _chunk of eachChunk(blobs.read(blob, { start: expected - 1, end: expected })));
    return (await isLonger(blobs, blob, expected)) ? tooLong(expected) : undefined;
  } catch (error) {
    return damageOf(error);
  }
}

/** The store has no size of a blob, but refuses to read after its end. */
async function isLonger(blobs: BlobStore, blob: BlobId, end: number): Promise<boolean> {
  try {
    for await (const _chunk of eachChunk(blobs.read(blob, { start: end, end: end + 1 })));
    return true;
  } catch (error) {
    if (isStoreError(error, 'blob-truncated')) return false;
    throw error;
  }
}

/** A store that cannot be reached says nothing about one blob: the error ends the whole check. */
function damageOf(error: unknown): Damage {
  if (isStoreError(error, 'blob-missing')) return { kind: 'missing', message: ofBlob(error) };
  if (isStoreError(error, 'blob-truncated')) return damaged('is shorter than what was written');
  if (isDamagedBlob(error)) return damaged(ofBlob(error));
  if (isStoreError(error, 'ciphertext-damaged')) return damaged(`cannot be decrypted: ${error.message}`);
  if (isStoreUnavailable(error) || !(error instanceof Error) || !('code' in error)) throw error;
  return { kind: 'unreadable', message: `cannot be read: ${errorText(error)}` };
}

/** Returns what the error says of the blob, whose id the caller names. */
function ofBlob({ message }: StoreError): string {
  return message.replace(/^blob \w+ /, '');
}

function tooLong(expected: number): Damage {
  return damaged(`continues after the ${expected} bytes that were written`);
}

function damaged(message: string): Damage {
  return { kind: 'damaged', message };
}
