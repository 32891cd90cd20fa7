import type { BlobId } from './blob-store.ts';

export function isBlobId(text: string): text is BlobId {
  return /^[0-9a-f]{32}$/.test(text);
}
