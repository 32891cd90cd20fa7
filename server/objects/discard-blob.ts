import type { BlobId } from '../store/blob-store.ts';
import type { Environment } from './environment.ts';

/** Removes a blob that nothing refers to. */
export async function discardBlob(environment: Environment, blob: BlobId): Promise<void> {
  try {
    await environment.blobs.remove(blob);
  } catch {
    // The request failed already and says why; the sweeper finds the blob, since it has no owner.
  }
}
