import type { Logger } from '../../../platform/logger.ts';
import type { BlobStore } from '../blob-store.ts';
import { StoreUnavailable } from '../record-store.ts';
import type { BlobsAddress } from '../store-address.ts';

export type S3BlobOptions = Omit<Extract<BlobsAddress, { kind: 's3' }>, 'kind'> & { readonly log: Logger };

export function openS3BlobStore(_options: S3BlobOptions): Promise<BlobStore> {
  return Promise.reject(new StoreUnavailable('unreachable', 'not built yet'));
}
