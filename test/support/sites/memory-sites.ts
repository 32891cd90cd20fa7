import { noKeySource } from '../../../server/encryption/key-source.ts';
import { sealedRecords } from '../../../server/encryption/sealed-records.ts';
import { openIdentities } from '../../../server/auth/identities/open-identities.ts';
import { identityKeys } from '../../../server/auth/identities/records.ts';
import { RemoteTargets } from '../../../server/replication/remote-targets.ts';
import { BucketItems } from '../../../server/sites/bucket-items.ts';
import { identityItems } from '../../../server/sites/identity-items.ts';
import { LiveItems } from '../../../server/sites/live-items.ts';
import { type CallPeer, type PeerRequest } from '../../../server/sites/peer-client.ts';
import { SiteReconciler } from '../../../server/sites/reconcile-sites.ts';
import { SiteAdministration } from '../../../server/sites/site-administration.ts';
import { SiteLedger } from '../../../server/sites/site-ledger.ts';
import { Sites } from '../../../server/sites/site-replication.ts';
import { SiteResyncs } from '../../../server/sites/site-resync.ts';
import { speedGroup, SiteSpeeds } from '../../../server/sites/site-speed.ts';
import { SiteRules } from '../../../server/sites/site-rules.ts';
import { SiteStates } from '../../../server/sites/site-state.ts';
import { MemoryRecordStore } from '../../../server/store/memory/record-store.ts';
import { testLayer } from '../objects/test-layer.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** A site in memory. */
export type MemorySite = Awaited<ReturnType<typeof memorySite>>;

interface World {
  readonly sites: Map<string, MemorySite>;
  readonly call: CallPeer;
  now: number;
}

async function memorySite(world: World, name: string) {
  const { records, layer } = testLayer({ records: new MemoryRecordStore(), clock: () => world.now });
  const sealed = sealedRecords({ records, keys: noKeySource });
  await sealed.start();
  const clock = () => world.now;
  const identities = openIdentities({
    records: sealed,
    rootUser: 'root',
    staleMs: 0,
    clock: () => new Date(world.now),
  });
  const [states, ledger, targets] = [new SiteStates(sealed), new SiteLedger(sealed), new RemoteTargets(sealed)];
  const revoked: string[] = [];
  const temporary = { revokeAllOf: (owner: string) => Promise.resolve(revoked.push(owner)) };
  const live = () =>
    new LiveItems({
      records,
      identities: identityItems({ identities, temporary, clock }),
      identityRevision: () => sealed.revision(identityKeys.head),
      buckets: new BucketItems({ objects: layer, region: 'us-east-1' }),
    });
  const self = `deployment-of-${name}`;
  const providers: Record<string, string> = {};
  const administration = new SiteAdministration({
    states,
    identities,
    call: world.call,
    self,
    describe: async () => ({
      coffer: '0',
      deploymentId: self,
      buckets: (await layer.listBuckets()).length,
      identityProviders: providers,
    }),
    removeRules: () => new SiteRules({ targets, objects: layer, clock }).removeAll(),
    clock,
  });
  const resyncs = new SiteResyncs({ sealed, records, targets, clock });
  const speeds = new SiteSpeeds({
    group: async () => speedGroup(await administration.group()),
    call: world.call,
    upload,
    self,
  });
  const log: { readonly message: string; readonly fields: object }[] = [];
  const note = (fields: object, message: string) => log.push({ fields, message });
  return {
    name,
    self,
    layer,
    identities,
    targets,
    ledger,
    providers,
    revoked,
    log,
    /** True while no other site reaches it. */
    isAway: false,
    asNew: { name, endpoint: `http://${name}:9000`, accessKey: 'root', secretKey: `secret-of-${name}` },
    sites: new Sites({
      administration,
      ledger,
      live: live(),
      resyncs,
      speeds,
      call: world.call,
      requirePromoted: () => Promise.resolve(),
      self,
    }),
    reconciler: new SiteReconciler({
      states,
      ledger,
      live: live(),
      rules: new SiteRules({ targets, objects: layer, clock }),
      identities,
      call: world.call,
      self,
      clock,
      log: { info: note, warn: note },
    }),
  };
}

function upload(): Promise<never> {
  return Promise.reject(new Error('sites in memory have no connections'));
}

/** Sites in memory that call each other, with one clock. */
export async function memorySites(...names: readonly string[]) {
  const world: World = {
    sites: new Map(),
    call: (peer, credentials, asked) => answered(world, peer, credentials, asked),
    now: 1_000_000,
  };
  for (const name of names) world.sites.set(`http://${name}:9000`, await memorySite(world, name));
  const all = [...world.sites.values()];
  return {
    sites: all as [MemorySite, MemorySite, ...MemorySite[]],
    /** Rounds of all sites, each a second after the other. */
    settle: async (rounds = 4) => {
      for (let round = 0; round < rounds; round += 1) {
        world.now += 1_000;
        for (const site of all) if (!site.isAway) await site.reconciler.round();
      }
    },
    advance: (ms: number) => {
      world.now += ms;
    },
  };
}

async function answered<T>(
  { sites }: World,
  peer: Parameters<CallPeer>[0],
  { accessKey, secretKey }: Parameters<CallPeer>[1],
  { call, body, answer }: PeerRequest<T>,
): Promise<T> {
  const site = sites.get(peer.endpoint);
  if (site === undefined || site.isAway) throw new ResponseError('away', `the site ${peer.name} cannot be reached`);
  const known =
    accessKey === 'root' ? site.asNew.secretKey : (await site.identities.serviceAccount(accessKey))?.secretKey;
  if (known !== secretKey) throw new ResponseError('refused', `the site ${peer.name} answered 403`);
  // As over the wire.
  const sent: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    describe: () => site.sites.peer.describe(),
    join: () => site.sites.peer.join(sent),
    edit: () => site.sites.peer.edit(sent),
    remove: () => site.sites.peer.leave(),
    digest: () => site.sites.peer.digest(),
    index: () => site.sites.peer.index(),
    items: () => site.sites.peer.items(sent),
  };
  return answer.parse(JSON.parse(JSON.stringify((await calls[call]?.()) ?? {})));
}
