import { keptChunks } from '../../streams/chunks.ts';
import { cipherSize } from '../../encryption/package-format.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { blockSumsOf } from '../bodies/block-sums-of.ts';
import { readPlain } from '../bodies/open-body.ts';
import { BlockSumsHasher, holds, storedBlockSums, type Sums } from '../checksums/block-sums.ts';
import { storedCheck } from '../records/stored-check.ts';
import type { ObjectContext } from '../context/context.ts';
import { encodeBlockSums, type ManifestPart } from '../records/body-records.ts';
import type { ObjectRecord, Protection } from '../records/object-record.ts';
import { decodeBody, recordKeys } from '../records/record-format.ts';
import { StoreError } from '../../store/store-error.ts';
import type { VersionPlace } from '../records/version-place.ts';
import { readManifest } from '../records/manifest.ts';

/** The stored bytes of a body, or of a part of it. They move between stores as they are, so that an encrypted body needs no key. */
export interface StoredStream {
  /** Undefined for a small body, whose bytes are a record. */
  readonly blob: BlobId | undefined;
  /** Plaintext bytes. */
  readonly size: number;
  readonly protection: Protection;
  /** The bytes of a small body. */
  readonly bytes?: Buffer;
}

export interface StoredStreams {
  readonly streams: readonly StoredStream[];
  /** The parts of an object that was uploaded in parts, one for each stream. */
  readonly parts: readonly ManifestPart[] | undefined;
}

/** Reads where the bytes of a version are. Undefined where it was replaced, or is a delete marker. */
export async function storedStreams(
  context: ObjectContext,
  place: VersionPlace,
  record: ObjectRecord,
): Promise<StoredStreams | undefined> {
  const { body, size, id } = record;
  switch (body.kind) {
    case 'none':
      return undefined;
    case 'blob':
      return { streams: [{ blob: body.blob, size, protection: body }], parts: undefined };
    case 'inline': {
      const entry = await context.records.get(recordKeys.inline(place.bucket, place.key, place.order));
      const bytes = entry && decodeBody(entry.value, id);
      if (bytes === undefined) return undefined;
      const protection = 'salt' in body ? body : blockSumsOfSmall(body, bytes, `${place.bucket}/${place.key}`);
      return { streams: [{ blob: undefined, size, protection, bytes }], parts: undefined };
    }
    case 'parts': {
      const parts = await readManifest(context, place, record);
      return parts && { streams: parts, parts };
    }
    default:
      return body satisfies never;
  }
}

/** Returns the protection that a small plain body has as a blob. */
function blockSumsOfSmall(body: Sums, bytes: Buffer, what: string): Protection {
  if (!holds(body, bytes)) throw new StoreError('damaged-body', `the stored bytes of ${what} are damaged`);
  const sums = new BlockSumsHasher();
  sums.update(bytes);
  return storedBlockSums(sums.digest(), false);
}

/** Yields the stored bytes of a stream. The checksum of each block is compared before its bytes, that of ciphertext at the end. */
async function* storedBytes(
  context: ObjectContext,
  { blob, size, protection, bytes }: StoredStream,
  what: string,
): AsyncGenerator<Buffer> {
  if (blob !== undefined && !('salt' in protection)) {
    yield* keptChunks(readPlain(context, { blob, size, protection, what }, { start: 0, end: size }));
    return;
  }
  const check = storedCheck(protection);
  const end = cipherSize(size);
  const chunks =
    blob === undefined
      ? [bytes ?? Buffer.alloc(0)]
      : keptChunks(context.blobs.read(blob, { start: 0, end, size: end }));
  for await (const chunk of chunks) {
    check?.update(chunk);
    yield chunk;
  }
  if (check?.holds() === false) throw new StoreError('damaged-body', `the stored bytes of ${what} are damaged`);
}

/** Writes the stored bytes of a stream to another blob. Returns the record of the block sums of the copy, if it needs one. */
export async function copyStream(
  context: ObjectContext,
  stream: StoredStream,
  copy: BlobId,
  what: string,
): Promise<readonly { readonly key: Buffer; readonly value: Buffer }[]> {
  const sums = await copiedBlockSums(context, stream, copy);
  await context.blobs.write(copy, storedBytes(context, stream, what));
  return sums;
}

/** Returns the record of the block sums of a stream for its copy, if its sums are not in its protection. */
async function copiedBlockSums(
  context: ObjectContext,
  { blob, size, protection }: StoredStream,
  copy: BlobId,
): Promise<readonly { readonly key: Buffer; readonly value: Buffer }[]> {
  if (blob === undefined || 'salt' in protection || 'sums' in protection) return [];
  const sums = await blockSumsOf(context, { blob, size, protection });
  if (sums === undefined) throw new StoreError('damaged-body', `blob ${blob} does not have its checksum`);
  return [{ key: recordKeys.blockSums(copy), value: encodeBlockSums(sums) }];
}
