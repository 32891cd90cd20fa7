import { isBlobId } from '../blob-id.ts';
import type { BlobId } from '../blob-store.ts';

/**
 * The key of a blob's object: by the last byte of the id, which is random, before the whole id, which begins with the time. An S3
 * that keeps ranges of keys together would have one busy range otherwise.
 */
export function blobObjectKey(prefix: string, id: BlobId): string {
  // An id becomes a key: nothing else may.
  if (!isBlobId(id)) throw new TypeError(`${JSON.stringify(id)} is no blob id`);
  return `${prefix}${id.slice(-2)}/${id}`;
}

/** The blob whose object has the key; `undefined` for a key of somebody else's. */
export function blobOfKey(prefix: string, key: string | undefined): BlobId | undefined {
  const id = key?.slice(prefix.length + 3);
  return id !== undefined && isBlobId(id) && key === blobObjectKey(prefix, id) ? id : undefined;
}
