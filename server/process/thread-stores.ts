import { endAtOnce } from '../../platform/process/shutdown.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { SharedBlobStore } from '../cluster/shared-blob-store.ts';
import { SharedRecordStore } from '../cluster/shared-record-store.ts';
import { type BlobStore, isEmptyStore } from '../store/blob-store.ts';
import { openBlobStore, openRecordStore } from '../store/open-stores.ts';
import { heedReadOnly } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';
import { type BlobsAddress, type RecordsAddress, describeAddress } from '../../platform/store-address/store-address.ts';
import { deploymentKey, joinDeployment, requireDeployment } from '../store/deployment.ts';
import { idOfNewStore, readExpectedDeployment } from '../store/other-store.ts';
import { type BlobsMarker, blobsMarker } from '../store/blobs-marker.ts';
import { markMisfit } from '../store/checkpoint.ts';
import type { Unpromoted } from '../store/promotion.ts';
import type { ThreadOptions } from './threads.ts';
import { randomBytes } from 'node:crypto';
import type { StoreTenant } from '../../protocol/expected-deployment.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import { soleMembership, sharedMembership, type Membership, type ClusterView } from '../cluster/membership.ts';

/** A thread's own handles on the stores. Local stores are open at once; remote ones when `openRemote` has resolved. */
export interface ThreadStores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Other servers may share the records. */
  readonly shared: boolean;
  /**
   * Opens the remote stores. The caller may repeat it.
   *
   * @throws StoreError
   */
  openRemote(): Promise<void>;
  /** From now on, the records and the blobs must be those of this deployment. */
  belongTo(deploymentId: string): void;
  /** Each rejects while a write would fail because the folder of the store is away or unusable. */
  readonly checks: Readonly<Record<'records' | 'bodies', () => Promise<void>>>;
  /** Returns why the records are unavailable, and for how many milliseconds; undefined if they are available. */
  outage(): { readonly reason: string; readonly forMs: number } | undefined;
  close(): Promise<void>;
}

interface ThreadStoresOptions {
  readonly records: RecordsAddress;
  readonly blobs: BlobsAddress;
  /** The blobs are in a data folder, which no other server uses. */
  readonly ownBlobs: boolean;
  /** The number of connections to a database. */
  readonly connections: number;
  /** Shared by the threads (`newestPrimaryMemory`). */
  readonly newestPrimary: SharedArrayBuffer;
  /** The file of `SVC_DEPLOYMENT_FILE`. */
  readonly deploymentFile: string | undefined;
  readonly log: Logger;
}

export async function openThreadStores(options: ThreadStoresOptions): Promise<ThreadStores> {
  const { records: recordsAddress, blobs: blobsAddress, ownBlobs, connections, newestPrimary, log } = options;
  const mayBegin = async () => {
    idOfNewStore(await readExpectedDeployment(options.deploymentFile), describeAddress(recordsAddress));
  };
  let deployment: string | undefined;
  const shared =
    recordsAddress.kind === 'lmdb'
      ? undefined
      : new SharedRecordStore({
          open: () =>
            openRecordStore(recordsAddress, {
              log,
              connections,
              newestPrimary,
              mayBegin,
              deployment: () => deployment,
            }),
          async look(store) {
            const entry = await store.get(deploymentKey);
            if (deployment !== undefined) requireDeployment(entry?.value, deployment, describeAddress(recordsAddress));
          },
          onChange(outage) {
            if (outage === undefined) log.info({ event: 'records-back' }, 'the record store is back');
            else log.warn({ event: 'records-away' }, `the record store is away: ${outage}; requests answer 503`);
          },
        });
  const openBlobs = () => openBlobStore(blobsAddress, { log, deployment: () => deployment });
  const remoteBlobs = ownBlobs ? undefined : new SharedBlobStore(openBlobs);
  const onFailed = (error: Error) => {
    log.fatal({ err: error }, `stopping at once: ${error.message}`);
    // The process ends before any thread answers another request.
    endAtOnce();
  };
  const records = heedReadOnly(shared ?? (await openRecordStore(recordsAddress, { log, onFailed })));
  const blobs: BlobStore = remoteBlobs ?? (await openBlobs());
  return {
    records,
    blobs,
    shared: shared !== undefined,
    async openRemote() {
      await shared?.open();
      await remoteBlobs?.open();
    },
    belongTo(deploymentId) {
      deployment = deploymentId;
    },
    checks: {
      records: async () => records.check?.(),
      bodies: async () => blobs.check?.(),
    },
    outage: () => shared?.outage(),
    close: () => records.close(),
  };
}

/** The deployment that the stores belong to. */
interface JoinedDeployment {
  readonly id: string;
  /** Why the store must not act for its deployment. */
  readonly unpromoted: Unpromoted | undefined;
  readonly marker: BlobsMarker;
  /** The UID of the Tenant of this server, where the records name Tenants. */
  readonly tenant: string | undefined;
  /** The Tenant that the records name, where it is another one. */
  readonly otherTenant: StoreTenant | undefined;
}

interface JoiningServer {
  /** Returns the other live servers of the records. */
  readonly others: () => Promise<readonly ServerFacts[]>;
  readonly checkKeys: () => Promise<void>;
}

/** Compares the stores with each other. It throws the errors of `joinDeployment`. */
export async function deploymentOf(
  { stores, settings }: ThreadOptions,
  { records, stores: { blobs } }: { readonly records: RecordStore; readonly stores: Pick<ThreadStores, 'blobs'> },
  { others, checkKeys }: JoiningServer,
): Promise<JoinedDeployment> {
  const { folder } = stores;
  const marker = await blobsMarker(stores.blobs);
  // Read again with each attempt: an administrator may accept the store meanwhile.
  const expected = await readExpectedDeployment(settings.deploymentFile);
  const tenant = expected.tenant?.uid;
  let otherTenant: StoreTenant | undefined;
  const id = await joinDeployment({
    records,
    marker,
    expected,
    checkKeys,
    liveOthers: async () =>
      (await others()).filter((server) => server.tenant !== tenant).map(({ endpoint }) => endpoint),
    onOtherTenant(holder) {
      otherTenant = holder;
    },
    hasBodies: async () => !(await isEmptyStore(blobs)),
    places: { records: describeAddress(stores.records), blobs: describeAddress(stores.blobs) },
    sameFolder: folder?.holdsBlobs === true,
    ...(folder === undefined ? {} : { newId: folder.deploymentId }),
  });
  const unpromoted = await markMisfit({ records, marker }, Date.now, randomBytes);
  return { id, marker, unpromoted, tenant, otherTenant };
}

const clock = () => performance.now();

/** Registers this server among the servers that share its records, if the store can be shared. */
export function joinCluster(
  { serverId }: ThreadOptions,
  { stores }: { readonly stores: ThreadStores },
  log: Logger,
  onChange: (view: ClusterView) => void,
): Membership {
  if (!stores.shared) return soleMembership(onChange);
  return sharedMembership({ records: stores.records, server: serverId, random: randomBytes, clock, log, onChange });
}
