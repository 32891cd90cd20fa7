import packageJson from '../../package.json' with { type: 'json' };
import type { Logger } from '../../platform/output/logger.ts';
import type { CallableServer } from '../administration/other-servers.ts';
import { identityKeys } from '../auth/identities/records.ts';
import type { ServerSpeeds } from '../administration/sites.ts';
import type { Lease } from '../cluster/lease.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import { repeated } from '../cluster/repeated.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { readUnpromoted, requirePromoted } from '../store/promotion.ts';
import { isStoreError } from '../store/store-error.ts';
import { BucketItems } from '../sites/bucket-items.ts';
import { identityItems } from '../sites/identity-items.ts';
import { providerSettings } from '../sites/provider-settings.ts';
import { callableServer } from '../sites/call-server.ts';
import { LiveItems } from '../sites/live-items.ts';
import { peerCaller, uploadToPeer } from '../sites/peer-client.ts';
import { SiteReconciler } from '../sites/reconcile-sites.ts';
import { SiteAdministration } from '../sites/site-administration.ts';
import { SiteLedger } from '../sites/site-ledger.ts';
import { Sites } from '../sites/site-replication.ts';
import { SiteResyncs } from '../sites/site-resync.ts';
import { speedGroup, SiteSpeeds } from '../sites/site-speed.ts';
import { SiteRules } from '../sites/site-rules.ts';
import { SiteStates } from '../sites/site-state.ts';
import type { Services } from './services.ts';

type SiteServices = Pick<Services, 'stores' | 'sealed' | 'objects' | 'access' | 'federation'>;

interface SiteOptions {
  readonly region: string;
  /** The deployment id of this server. */
  readonly self: string;
}

/** Milliseconds between two comparisons with other sites. Each is one short request to each of them. */
const roundMs = 1_000;
/** Milliseconds that a stop waits for a round. */
const gracePeriodMs = 1_000;

/** The replication of sites, for the admin API of a thread. */
export function openSites(services: SiteServices, { region, self }: SiteOptions): Sites {
  const { sealed, stores, objects, access, federation } = services;
  const { call } = peerCaller();
  const targets = new RemoteTargets(sealed);
  const administration = new SiteAdministration({
    states: new SiteStates(sealed),
    identities: access.identities,
    call,
    self,
    describe: async () => ({
      coffer: packageJson.version,
      deploymentId: self,
      buckets: (await objects.listBuckets()).length,
      identityProviders: await providerSettings(federation.identityProviders),
    }),
    removeRules: () => new SiteRules({ targets, objects, clock: Date.now }).removeAll(),
    clock: Date.now,
  });
  return new Sites({
    administration,
    ledger: new SiteLedger(sealed),
    live: liveItems(services, region),
    resyncs: new SiteResyncs({ sealed, records: stores.records, targets, clock: Date.now }),
    speeds: new SiteSpeeds({
      group: async () => speedGroup(await administration.group()),
      call,
      upload: uploadToPeer,
      self,
    }),
    call,
    requirePromoted: () => requirePromoted(stores.records),
    self,
  });
}

/** Measures the connections between the servers of this deployment. They have the same root credentials, and are all with TLS or all without. */
export function openServerSpeeds({
  live,
  self,
  root,
  secure,
}: {
  readonly live: () => readonly ServerFacts[];
  /** The id of this server among them. */
  readonly self: string;
  readonly root: { readonly user: string; readonly password: string };
  readonly secure: boolean;
}): ServerSpeeds {
  const credentials = { accessKey: root.user, secretKey: root.password };
  const group = () => {
    const sites = live().map(({ id, endpoint }) => ({
      kind: 'server' as const,
      name: endpoint,
      endpoint: `${secure ? 'https' : 'http'}://${endpoint}`,
      deploymentId: id,
    }));
    return Promise.resolve(sites.length < 2 ? undefined : { sites, credentials });
  };
  return new SiteSpeeds({ group, call: peerCaller().call, upload: uploadToPeer, self, peerCall: 'server-speed' });
}

/** Returns the other servers of this deployment as an administrator of all of them calls them. */
export function openCallableServers({
  live,
  self,
  root,
  secure,
}: Parameters<typeof openServerSpeeds>[0]): readonly CallableServer[] {
  const credentials = { accessKey: root.user, secretKey: root.password };
  return live()
    .filter(({ id, endpoint }) => id !== self && endpoint !== '')
    .map(({ endpoint }) => callableServer({ endpoint, secure }, credentials));
}

/** Keeps this server in step with its sites while it holds the lease, until it is stopped. */
export function runSites(
  services: SiteServices,
  lease: Pick<Lease, 'hold'>,
  log: Logger,
  { region, self }: SiteOptions,
): { stop(): Promise<void> } {
  const { sealed, objects, access } = services;
  const peers = peerCaller();
  let isStopping = false;
  let current: { readonly generation: number; readonly reconciler: SiteReconciler } | undefined;
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || isStopping || (await readUnpromoted(services.stores.records)) !== undefined) {
      current = undefined;
      return;
    }
    // Another holder of the lease may have written the ledger meanwhile.
    if (current?.generation !== hold.generation) {
      const reconciler = new SiteReconciler({
        states: new SiteStates(sealed),
        ledger: new SiteLedger(sealed),
        live: liveItems(services, region),
        rules: new SiteRules({ targets: new RemoteTargets(sealed), objects, clock: Date.now }),
        identities: access.identities,
        call: peers.call,
        self,
        clock: Date.now,
        log: {
          info: (fields, message) => log.info(fields, message),
          // A stop ends requests to other sites.
          warn: (fields, message) => {
            if (!isStopping) log.warn(fields, message);
          },
        },
      });
      current = { generation: hold.generation, reconciler };
    }
    await current.reconciler.round();
  };
  const rounds = repeated(roundMs, round, (error) => {
    if (!isStopping && !isStoreError(error, 'lease-lost')) log.error({ err: error }, 'the sites could not be compared');
  });
  return {
    async stop() {
      isStopping = true;
      peers.close();
      await rounds.stop(gracePeriodMs);
    },
  };
}

function liveItems({ stores, sealed, objects, access }: SiteServices, region: string): LiveItems {
  return new LiveItems({
    records: stores.records,
    identities: identityItems({ ...access, clock: Date.now }),
    identityRevision: () => sealed.revision(identityKeys.head),
    buckets: new BucketItems({ objects, region }),
  });
}
