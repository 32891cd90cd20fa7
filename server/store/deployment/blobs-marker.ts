import type { BlobsAddress } from '../store-address.ts';
import { folderMarker } from './folder-marker.ts';

/** What says, beside the blobs, which deployment they belong to. */
export interface BlobsMarker {
  /** Undefined where there is none. Throws `StoreUnavailable` where that cannot be told. */
  read(): Promise<string | undefined>;
  /** Durable when it resolves. One that is there already is left alone: read again. */
  write(deploymentId: string): Promise<void>;
}

/** The name of a marker: a file in the folder, an object below the prefix. */
export const markerName = 'coffer-deployment.json';

export async function blobsMarker(address: BlobsAddress): Promise<BlobsMarker> {
  if (address.kind === 'files') return folderMarker(address.folder);
  const { bucketMarker } = await import('./bucket-marker.ts');
  return bucketMarker(address);
}
