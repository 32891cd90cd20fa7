import type { Logger } from '../../platform/output/logger.ts';
import type { BlobStore } from './blob-store.ts';
import { openFilesBlobStore } from './files/blob-store.ts';
import { fileSystemOf } from './files/shared-file-system.ts';
import { openLmdbReadOnly } from './lmdb/read-only.ts';
import { openLmdbRecordStore } from './lmdb/record-store.ts';
import type { RecordStore } from './record-store.ts';
import type { BlobsAddress, RecordsAddress } from '../../platform/store-address/store-address.ts';

export interface StoreOptions {
  readonly log: Logger;
  /** The number of connections that this handle opens to a database. */
  readonly connections?: number;
  /** True to change nothing: no process writes the records, and nothing is migrated. */
  readonly readOnly?: boolean;
  /** Rejects where no new store must be begun in a database, before any table is made. A store may be begun by default. */
  readonly mayBegin?: () => Promise<void>;
  /** Called when the record file has failed and its state is unknown. By default the thread ends with the error. */
  readonly onFailed?: (error: Error) => void;
  /** The memory in which the threads of a server share which primary of PostgreSQL is the newest. */
  readonly newestPrimary?: SharedArrayBuffer;
  /** Returns the deployment that shared records and blobs must belong to, once it is known. */
  readonly deployment?: () => string | undefined;
}

/** Opens the records. Engines other than LMDB are loaded only when they are used, because that delays the start. */
export async function openRecordStore(address: RecordsAddress, options: StoreOptions): Promise<RecordStore> {
  const { log, connections, onFailed, readOnly, mayBegin, newestPrimary, deployment } = options;
  if (address.kind === 'lmdb') {
    if (readOnly === true) return openLmdbReadOnly(address.folder);
    return openLmdbRecordStore({ folder: address.folder, ballast: true, ...(onFailed && { onFailed }) });
  }
  const { openPostgresRecordStore } = await import('./postgres/record-store.ts');
  const { kind: _, ...database } = address;
  const more = { readOnly, mayBegin, newestPrimary, deployment, ...(connections === undefined ? {} : { connections }) };
  return openPostgresRecordStore({ ...database, log, ...more });
}

export async function openBlobStore(address: BlobsAddress, options: StoreOptions): Promise<BlobStore> {
  if (address.kind === 'files') {
    return openFilesBlobStore(address.folder, {
      fs: await fileSystemOf(address.folder),
      deployment: options.deployment,
    });
  }
  const { openS3BlobStore } = await import('./s3/blob-store.ts');
  return openS3BlobStore({ ...address, log: options.log, deployment: options.deployment });
}
