import { endAtOnce } from '../platform/end-at-once.ts';
import type { Logger } from '../platform/logger.ts';
import { SharedBlobStore } from './replicas/shared-blob-store.ts';
import { SharedRecordStore } from './replicas/shared-record-store.ts';
import type { BlobStore } from './store/blob-store.ts';
import { openBlobStore, openRecordStore } from './store/open-stores.ts';
import { heedReadOnly } from './store/read-only.ts';
import type { RecordStore } from './store/record-store.ts';
import type { BlobsAddress, RecordsAddress } from './store/store-address.ts';

/** A thread's own handles on the stores. Those on this machine are open at once; those elsewhere when `reach` has resolved. */
export interface ThreadStores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Whether other servers may share the records. */
  readonly shared: boolean;
  /** May be repeated. Throws `StoreUnavailable`. */
  reach(): Promise<void>;
  /** Why the records cannot be used now, and since when, in milliseconds. */
  outage(): { readonly reason: string; readonly forMs: number } | undefined;
  close(): Promise<void>;
}

export interface ThreadStoresOptions {
  readonly records: RecordsAddress;
  readonly blobs: BlobsAddress;
  /** Whether the blobs are in a folder that this server has to itself, and has made. */
  readonly ownBlobs: boolean;
  /** To a database. */
  readonly connections: number;
  readonly log: Logger;
}

export async function openThreadStores(options: ThreadStoresOptions): Promise<ThreadStores> {
  const { records: recordsAddress, blobs: blobsAddress, ownBlobs, connections, log } = options;
  const shared =
    recordsAddress.kind === 'lmdb'
      ? undefined
      : new SharedRecordStore({
          open: () => openRecordStore(recordsAddress, { log, connections }),
          onChange(outage) {
            if (outage === undefined) log.info({ event: 'records-back' }, 'the record store is back');
            else log.warn({ event: 'records-away' }, `the record store is away: ${outage}; requests answer 503`);
          },
        });
  const elsewhere = ownBlobs ? undefined : new SharedBlobStore(() => openBlobStore(blobsAddress, { log }));
  const onFailed = (error: Error) => {
    log.fatal({ err: error }, `stopping at once: ${error.message}`);
    // Before anybody is answered, by any thread.
    endAtOnce();
  };
  const records = heedReadOnly(shared ?? (await openRecordStore(recordsAddress, { log, onFailed })));
  return {
    records,
    blobs: elsewhere ?? (await openBlobStore(blobsAddress, { log })),
    shared: shared !== undefined,
    async reach() {
      await shared?.open();
      await elsewhere?.open();
    },
    outage: () => shared?.outage(),
    close: () => records.close(),
  };
}
