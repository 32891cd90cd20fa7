import type { BlobsAddress } from '../store-address.ts';
import type { BlobsMarker } from './blobs-marker.ts';
import { folderMarker } from './folder-marker.ts';

/** The AWS client is loaded only where it is needed. */
export async function blobsMarker(address: BlobsAddress): Promise<BlobsMarker> {
  if (address.kind === 'files') return folderMarker(address.folder);
  const { bucketMarker } = await import('./bucket-marker.ts');
  return bucketMarker(address);
}
