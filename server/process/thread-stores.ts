import { endAtOnce } from '../../platform/shutdown.ts';
import type { Logger } from '../../platform/logger.ts';
import { SharedBlobStore } from '../replicas/shared-blob-store.ts';
import { SharedRecordStore } from '../replicas/shared-record-store.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { openBlobStore, openRecordStore } from '../store/open-stores.ts';
import { heedReadOnly } from '../store/read-only.ts';
import type { RecordStore } from '../store/record-store.ts';
import { type BlobsAddress, type RecordsAddress, describeAddress } from '../store/store-address.ts';
import type { Services } from './services.ts';
import { joinDeployment } from '../store/deployment.ts';
import { blobsMarker } from '../store/blobs-marker.ts';
import type { ThreadOptions } from './threads.ts';
import { randomBytes } from 'node:crypto';
import { onlyReplica, sharedReplicas, type Replicas, type ReplicasView } from '../replicas/replicas.ts';

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

interface ThreadStoresOptions {
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

/** The ID of the deployment that this server's stores belong to. Throws what `joinDeployment` throws. */
export async function deploymentOf({ stores }: ThreadOptions, { records }: Pick<Services, 'records'>): Promise<string> {
  const { folder } = stores;
  return joinDeployment({
    records,
    marker: await blobsMarker(stores.blobs),
    places: { records: describeAddress(stores.records), blobs: describeAddress(stores.blobs) },
    sameFolder: folder?.holdsBlobs === true,
    ...(folder === undefined ? {} : { newId: folder.deploymentId }),
  });
}

const clock = () => performance.now();

/** This server among those that share its records, if they can be shared. */
export function joinReplicas(
  { replica }: ThreadOptions,
  { stores }: Pick<Services, 'stores'>,
  log: Logger,
  onChange: (view: ReplicasView) => void,
): Replicas {
  if (!stores.shared) return onlyReplica(onChange);
  return sharedReplicas({ records: stores.records, replica, random: randomBytes, clock, log, onChange });
}
