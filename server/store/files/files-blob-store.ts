import type { BlobStore } from '../blob-store.ts';

/** Blobs as files below an existing folder. */
export function openFilesBlobStore(_folder: string): BlobStore {
  throw new Error('not yet');
}
