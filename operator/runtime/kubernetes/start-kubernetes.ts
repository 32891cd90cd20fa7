import manifest from '../../../package.json' with { type: 'json' };
import type { Logger } from '../../../platform/output/logger.ts';
import type { Connection } from '../../kube-client/connection.ts';
import { createControllers } from '../../reconcile/managed/controllers.ts';
import { createTierController } from '../../reconcile/tenant/tier-controller.ts';
import { createSealedKeysReader, promoteStore, readDeployment } from '../../reconcile/tenant/read-sealed-keys.ts';
import { EventRecorder } from '../../kube-client/events.ts';
import { KubeError, type KubeObject } from '../../kube-client/kube-api.ts';
import { KubeClient } from '../../kube-client/kube-client.ts';
import { LeaderElection, type LeaseTiming } from '../../kube-client/leader-election.ts';
import type { ResourceStatus } from '../../reconcile/conditions.ts';
import type { OperatorEvent } from '../../reconcile/reconciler-options.ts';
import { parseQueueKey, queueKey } from '../../reconcile/resources.ts';
import { RolloutLimit } from '../../reconcile/rollout-limit.ts';
import type { UpgradeWindow } from '../../reconcile/rollout-limit.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import { resourceKinds } from '../../contract/workload.ts';
import { standardCertificateTimes, type CertificateTimes } from './certificates/certificate-times.ts';
import { ClusterCaches } from './cluster-caches.ts';
import { HealthServers, type HealthAddresses } from './health-server.ts';
import { OperatorMetrics, type ObservedResource } from './metrics.ts';
import { cacheOfKind } from './namespace/namespace-scope.ts';
import type { PodBounds } from './pod-bounds.ts';
import type { ConnectKeyService } from '../../reconcile/key-service/prove-keys.ts';
import { NamespaceScopes } from './namespace/namespace-scopes.ts';
import type { AskHealth } from './workload/store-health.ts';
import { SwapNodes } from './swap-nodes.ts';

export interface KubernetesOptions {
  readonly connection: Connection;
  /** All namespaces by default. */
  readonly namespaces?: readonly string[] | undefined;
  /** The namespace of the Lease, when several replicas run and one acts. */
  readonly leaderElection?: { readonly namespace: string; readonly timing?: LeaseTiming } | undefined;
  /** Unique among the replicas of this operator: the name of its pod. */
  readonly identity: string;
  /** Of the Lease by which one operator acts in each namespace. */
  readonly namespaceLeaseTiming?: LeaseTiming | undefined;
  /** Namespace of this process; undefined outside a cluster. */
  readonly operatorNamespace?: string | undefined;
  readonly addresses?: HealthAddresses;
  readonly maxConcurrentRollouts: number;
  /** Default image of workloads and of provider checks. */
  readonly image: string;
  /** The hours in which upgrades to a new default image begin; at any time by default. */
  readonly upgradeWindow?: UpgradeWindow | undefined;
  /** Limits of the pod options of resources; none by default. */
  readonly bounds?: PodBounds;
  /** Allowed hosts of identity providers, as `idp.example.com` or `*.example.com`; any by default. */
  readonly providerHosts?: readonly string[] | undefined;
  readonly certificateTimes?: CertificateTimes;
  /** Replaces requests to servers over the network, for tests. */
  readonly askHealth?: AskHealth | undefined;
  /** Replaces calls to key services over the network, for tests. */
  readonly connectKeyService?: ConnectKeyService | undefined;
  readonly log: Logger;
  /** Called when another process may act from now on. The callee must end this process at once. */
  readonly onStoppedLeading: (message: string) => void;
}

export interface KubernetesOperator {
  /** Resolves with true when this process acts on resources, and with false when it was stopped before. */
  readonly acting: Promise<boolean>;
  /** HOST:PORT of probes and metrics. */
  readonly addresses: readonly string[];
  readonly metrics: () => Promise<string>;
  /** Ends the reconciles under way, then releases the Lease. Workloads run on. */
  readonly stop: () => Promise<void>;
}

const leaseName = 'coffer-operator';

/** Number of reconciles at once. A reconcile mostly waits for the API server. */
const workers = 8;

/** Starts the operator on a cluster: it follows the resources and makes the workloads match them. Errors with a `ProgramError`. */
export async function startKubernetes(options: KubernetesOptions): Promise<KubernetesOperator> {
  const { connection, log } = options;
  const userAgent = `coffer-operator/${manifest.version}`;
  const api = new KubeClient(connection, { userAgent });
  const metrics = new OperatorMetrics({
    queueDepth: () => queue.depth,
    leads: () => acts,
    resources: () => observed(caches),
    certificateExpiries: () => scopes.certificateExpiries(),
  });
  const caches = new ClusterCaches({
    api,
    namespaces: options.namespaces,
    random: Math.random,
    restarted: ({ plural }, error) => {
      metrics.watchRestarted(plural);
      log.warn({ resource: plural, reason: reasonOf(error) }, `${plural}: ${messageOf(error)}; trying again`);
    },
    failed: (error) => log.error({ err: error }, 'a change could not be taken in'),
  });
  const recorder = new EventRecorder({
    api,
    now,
    instance: options.identity,
    failed: (error) => log.debug({ reason: reasonOf(error) }, `an event was not written: ${messageOf(error)}`),
  });
  const queue = new WorkQueue({
    workers,
    random: Math.random,
    work: async (key) => {
      const { kind } = parseQueueKey(key).ref;
      const began = performance.now();
      const seconds = () => (performance.now() - began) / 1000;
      try {
        await scopes.work(key);
        metrics.reconciled(kind, 'success', seconds());
      } catch (error) {
        metrics.reconciled(kind, 'error', seconds());
        throw error;
      }
    },
    failed: (key, error, retryInMs) => {
      // A conflict of two writers or a busy server is expected: the next reconcile reads the new state.
      const level = error instanceof KubeError ? 'warn' : 'error';
      log[level]({ key, err: error, retryInMs: Math.round(retryInMs) }, `${key}: ${messageOf(error)}; trying again`);
    },
  });
  // The elections have their own connections and timeout: a queue of other calls must not cost the leadership.
  const leaseApi = new KubeClient(connection, { userAgent, timeoutMs: 3_000 });
  const scopes = new NamespaceScopes({
    api,
    leases: { api: leaseApi, identity: namespaceIdentity(options), timing: options.namespaceLeaseTiming },
    caches,
    rolloutLimit: new RolloutLimit({
      places: options.maxConcurrentRollouts,
      window: options.upgradeWindow,
      now,
    }),
    counters: metrics,
    tiers: createTierController(),
    sealedKeys: createSealedKeysReader(),
    deploymentOf: readDeployment,
    promoteStore,
    controllers: createControllers({
      onChanged: ({ kind, metadata: { namespace = '', name } }, differences) => {
        const message = `made it as it should be: ${differences.join('; ')}`;
        const object = caches.get(cacheOfKind[kind]).get(namespace, name);
        report({ ref: { kind, name }, type: 'Normal', reason: 'Changed', message }, object, recorder, log);
      },
    }),
    certificateTimes: options.certificateTimes ?? standardCertificateTimes,
    askHealth: options.askHealth,
    connectKeyService: options.connectKeyService,
    swapNodes: new SwapNodes(api, now),
    image: options.image,
    bounds: options.bounds,
    providerHosts: options.providerHosts ?? [],
    operatorNamespace: options.operatorNamespace,
    enqueue: (namespace, ref, afterMs) => queue.add(queueKey(namespace, ref), afterMs),
    event: (event, object) => report(event, object, recorder, log),
    log,
    now,
    random: Math.random,
  });
  const election = options.leaderElection && elect(options, options.leaderElection, leaseApi);
  let acts = false;
  let synced = false;
  let stopping = false;
  const stopped = Promise.withResolvers<void>();
  const health = await HealthServers.start(options.addresses ?? {}, {
    metrics,
    notReady: () => {
      if (stopping) return 'stopping';
      return synced ? undefined : `waiting for the lists of ${caches.missing().join(', ')}`;
    },
  });

  const begin = async (): Promise<boolean> => {
    caches.start();
    await Promise.race([caches.synced(), stopped.promise]);
    if (stopping) return false;
    synced = true;
    log.info(`following ${options.namespaces?.join(', ') ?? 'all namespaces'}`);
    if (election !== undefined && !(await election.acquire())) return false;
    if (stopping) return false;
    acts = true;
    log.info('acting on resources');
    scopes.start();
    return true;
  };
  const acting = begin();
  // The caller of `acting` gets the failure; it is logged for callers that do not await it.
  acting.catch((error: unknown) => log.error({ err: error }, 'the operator could not start'));

  return {
    acting,
    addresses: health.addresses,
    metrics: () => metrics.text(),
    stop: async () => {
      stopping = true;
      stopped.resolve();
      await queue.close();
      await scopes.close();
      await Promise.race([recorder.flush(), delay(eventsMs)]);
      // Release the Lease after the last write: the next leader must not see a write of this process.
      await election?.release();
      acts = false;
      await caches.stop();
      await health.close();
      leaseApi.close();
      api.close();
    },
  };
}

/** Milliseconds that a stop waits for events that are not written yet. */
const eventsMs = 3_000;

/**
 * Returns the name by which this operator holds namespaces: NAMESPACE/NAME of the Lease of its replicas, so that the next leader goes on at once,
 * or of its pod where there is no election.
 */
function namespaceIdentity({ leaderElection, operatorNamespace = 'outside', identity }: KubernetesOptions): string {
  return leaderElection === undefined ? `${operatorNamespace}/${identity}` : `${leaderElection.namespace}/${leaseName}`;
}

function elect(
  options: KubernetesOptions,
  { namespace, timing }: NonNullable<KubernetesOptions['leaderElection']>,
  api: KubeClient,
): LeaderElection {
  const { identity, log, onStoppedLeading } = options;
  return new LeaderElection({
    api,
    namespace,
    name: leaseName,
    identity,
    timing,
    onStoppedLeading,
    failed: (error) => log.warn({ reason: reasonOf(error) }, `leader election: ${messageOf(error)}`),
    now,
    random: Math.random,
  });
}

function report(event: OperatorEvent, object: KubeObject | undefined, recorder: EventRecorder, log: Logger): void {
  const { ref, type, reason, message } = event;
  const { namespace } = object?.metadata ?? {};
  log[type === 'Warning' ? 'warn' : 'info']({ namespace, ...ref, reason }, `${ref.kind} ${ref.name}: ${message}`);
  if (object !== undefined) recorder.record({ regarding: object, type, reason, message });
}

function observed(caches: ClusterCaches): readonly ObservedResource[] {
  return resourceKinds.flatMap((kind) =>
    caches
      .get(cacheOfKind[kind])
      .list()
      .map(({ metadata: { namespace = '', name }, status }) => ({
        namespace,
        kind,
        name,
        status: status as ResourceStatus | undefined,
      })),
  );
}

function delay(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, milliseconds).unref();
  return promise;
}

const now = () => new Date();

function reasonOf(error: unknown): string | undefined {
  return error instanceof KubeError ? error.reason : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
