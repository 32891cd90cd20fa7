import manifest from '../../../package.json' with { type: 'json' };
import type { Logger } from '../../../platform/logger.ts';
import type { Connection } from '../../kube-client/connection.ts';
import { createControllers } from '../../reconcile/managed/controllers.ts';
import { EventRecorder } from '../../kube-client/events.ts';
import { KubeError, type KubeObject } from '../../kube-client/kube-api.ts';
import { KubeClient } from '../../kube-client/kube-client.ts';
import { LeaderElection, type LeaseTiming } from '../../kube-client/leader-election.ts';
import type { ResourceStatus } from '../../reconcile/conditions.ts';
import type { OperatorEvent } from '../../reconcile/reconciler-options.ts';
import { parseQueueKey, queueKey } from '../../reconcile/resources.ts';
import { RolloutLimit } from '../../reconcile/rollout-limit.ts';
import type { UpgradeWindow } from '../../reconcile/upgrade-window.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import { resourceKinds } from '../contract/workload.ts';
import { standardCertificateTimes, type CertificateTimes } from './certificates/certificate-times.ts';
import { ClusterCaches } from './cluster-caches.ts';
import { HealthServers, type HealthAddresses } from './health-server.ts';
import { OperatorMetrics, type ObservedResource } from './metrics.ts';
import { cacheOfKind } from './namespace/namespace-scope.ts';
import type { PodBounds } from './pod-bounds.ts';
import type { OpenKeyService } from './prove-keys.ts';
import { NamespaceScopes } from './namespace/namespace-scopes.ts';
import type { AskHealth } from './workload/store-health.ts';
import { SwapNodes } from './swap-nodes.ts';

export interface KubernetesOptions {
  readonly connection: Connection;
  /** All namespaces without them. */
  readonly namespaces?: readonly string[] | undefined;
  /** Where several run and one acts: the namespace of the Lease. */
  readonly leaderElection?: { readonly namespace: string; readonly timing?: LeaseTiming } | undefined;
  /** Unique among the processes of this operator: the name of its pod. */
  readonly identity: string;
  /** Namespace that this runs in; undefined outside a cluster. */
  readonly operatorNamespace?: string | undefined;
  readonly addresses?: HealthAddresses;
  readonly maxConcurrentRollouts: number;
  /** Default image of workloads, and what provider checks run. */
  readonly image: string;
  /** When upgrades to a new default image begin; at any time without it. */
  readonly upgradeWindow?: UpgradeWindow | undefined;
  /** What resources may ask of their pods; anything without it. */
  readonly bounds?: PodBounds;
  /** Hosts that identity providers may be at, as `idp.example.com` or `*.example.com`; any without it. */
  readonly providerHosts?: readonly string[] | undefined;
  readonly certificateTimes?: CertificateTimes;
  /** Instead of asking servers over the network. */
  readonly askHealth?: AskHealth | undefined;
  /** Instead of calling key services over the network. */
  readonly openKeyService?: OpenKeyService | undefined;
  readonly log: Logger;
  /** Another process may act from now on: this one must end at once. */
  readonly leadershipLost: (message: string) => void;
}

export interface KubernetesOperator {
  /** Resolves when this process acts on resources; with false when it was stopped before. */
  readonly acting: Promise<boolean>;
  /** HOST:PORT of probes and metrics. */
  readonly addresses: readonly string[];
  readonly metrics: () => Promise<string>;
  /** Ends the passes under way, then gives the Lease back. What runs in the cluster runs on. */
  readonly stop: () => Promise<void>;
}

const leaseName = 'coffer-operator';

/** Passes at once. Most of a pass is waiting for the API server. */
const workers = 8;

/** The operator on a cluster: follows the resources, and makes what runs equal to them. Errors with a `ListenError`. */
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
      // Two writers met, or the server is busy: the next pass sees what is there now.
      const level = error instanceof KubeError ? 'warn' : 'error';
      log[level]({ key, err: error, retryInMs: Math.round(retryInMs) }, `${key}: ${messageOf(error)}; trying again`);
    },
  });
  const scopes = new NamespaceScopes({
    api,
    caches,
    rolloutLimit: new RolloutLimit({
      places: options.maxConcurrentRollouts,
      ...(options.upgradeWindow && { window: options.upgradeWindow }),
      now,
    }),
    counters: metrics,
    controllers: createControllers({
      onChanged: ({ kind, metadata: { namespace = '', name } }, differences) => {
        const message = `made it as it should be: ${differences.join('; ')}`;
        const object = caches.get(cacheOfKind[kind]).get(namespace, name);
        tell({ ref: { kind, name }, type: 'Normal', reason: 'Changed', message }, object, recorder, log);
      },
    }),
    certificateTimes: options.certificateTimes ?? standardCertificateTimes,
    askHealth: options.askHealth,
    openKeyService: options.openKeyService,
    swapNodes: new SwapNodes(api, now),
    image: options.image,
    bounds: options.bounds,
    providerHosts: options.providerHosts ?? [],
    operatorNamespace: options.operatorNamespace,
    enqueue: (namespace, ref, afterMs) => queue.add(queueKey(namespace, ref), afterMs),
    event: (event, object) => tell(event, object, recorder, log),
    log,
    now,
    random: Math.random,
  });
  // Connections and a time limit of its own: a queue of other calls must not cost the leadership.
  const leaseApi = new KubeClient(connection, { userAgent, timeoutMs: 3_000 });
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
  // Whoever awaits it hears of a failure; nobody has to.
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
      // After the last write: who takes over must not meet one of ours.
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

function elect(
  options: KubernetesOptions,
  { namespace, timing }: NonNullable<KubernetesOptions['leaderElection']>,
  api: KubeClient,
): LeaderElection {
  const { identity, log, leadershipLost } = options;
  return new LeaderElection({
    api,
    namespace,
    name: leaseName,
    identity,
    ...(timing && { timing }),
    lost: leadershipLost,
    failed: (error) => log.warn({ reason: reasonOf(error) }, `leader election: ${messageOf(error)}`),
    now,
    random: Math.random,
  });
}

function tell(event: OperatorEvent, object: KubeObject | undefined, recorder: EventRecorder, log: Logger): void {
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
