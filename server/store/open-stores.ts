import type { Logger } from '../../platform/logger.ts';
import type { BlobStore } from './blob-store.ts';
import { openFilesBlobStore } from './files/blob-store.ts';
import { fileSystemOf } from './files/shared-file-system.ts';
import { openLmdbRecordStore } from './lmdb/record-store.ts';
import type { RecordStore } from './record-store.ts';
import type { BlobsAddress, RecordsAddress } from './store-address.ts';

export interface StoreOptions {
  readonly log: Logger;
  /** Of this handle, to a database. */
  readonly connections?: number;
  /** Told when nothing can be relied on that this process knows of its records; without it the thread ends with the error. */
  readonly onFailed?: (error: Error) => void;
}

/** The engine is loaded only where it is used: a start on one machine does not pay for the others. */
export async function openRecordStore(address: RecordsAddress, options: StoreOptions): Promise<RecordStore> {
  const { log, connections, onFailed } = options;
  if (address.kind === 'lmdb') {
    return openLmdbRecordStore({ folder: address.folder, ballast: true, ...(onFailed && { onFailed }) });
  }
  const { openPostgresRecordStore } = await import('./postgres/record-store.ts');
  const { kind: _, ...database } = address;
  return openPostgresRecordStore({ ...database, log, ...(connections === undefined ? {} : { connections }) });
}

export async function openBlobStore(address: BlobsAddress, options: StoreOptions): Promise<BlobStore> {
  if (address.kind === 'files') {
    return openFilesBlobStore(address.folder, { fs: await fileSystemOf(address.folder) });
  }
  const { openS3BlobStore } = await import('./s3/blob-store.ts');
  return openS3BlobStore({ ...address, log: options.log });
}
