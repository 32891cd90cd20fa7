import { ResourceError, isConflict } from '../../../api/resource-error.ts';
import type { Secret } from '../../../contract/secret.ts';
import { KubeError, type KubeApi, type KubeObject, type OwnerReference } from '../../../kube-client/kube-api.ts';
import type { OperatorEvent } from '../../../reconcile/reconciler-options.ts';
import { workloadName } from '../../../render/render-context.ts';
import { isRenewed, resolveText } from '../../../contract/resolve.ts';
import type {
  DataVolume,
  DataVolumeOwner,
  RefusalReason,
  RunningWorkload,
  Runtime,
  StoreHealth,
} from '../../../contract/runtime.ts';
import type {
  CertificateNeed,
  IssuedCertificate,
  ResourceRef,
  Text,
  Workload,
  WorkloadCheck,
} from '../../../contract/workload.ts';
import { type CertificateExpiry, CertificateKeeper } from '../certificates/certificate-keeper.ts';
import type { CertificateTimes } from '../certificates/certificate-times.ts';
import { ClusterRules } from './cluster-rules.ts';
import type { Drift } from './drift.ts';
import { CheckPods } from './check-pods.ts';
import {
  dataVolumeOf,
  deletedClaims,
  existingClaimNames,
  isFound,
  markedClaim,
  resizingVolumes,
  sharedClaimNames,
} from './claims.ts';
import { failedCreateView, rejectedPods, statefulSetView } from './live-workload.ts';
import { schedulingDeadline, podView } from './instance-state.ts';
import { keyOf, ObjectWriter } from './object-writer.ts';
import { authorityLabel, certificateLabel, ownerKindLabel, ownerLabel, workloadLabel } from '../objects/labels.ts';
import { firstClaimName } from '../objects/volumes.ts';
import { KeyStores } from './key-store-health.ts';
import {
  askHealth,
  askKeyStore,
  storeHealthBy,
  type AskHealth,
  type HealthRequest,
  WaitingServers,
} from './store-health.ts';
import { checkTimeoutMs, workloadCheckObjects } from './workload-check.ts';
import { ownerOf } from '../namespace/watching.ts';
import { certificatesOf, podSymbols, resolvedFiles, serviceAddress, portsOf, workloadView } from './workload-view.ts';
import { renewFiles, writeWorkload, type RuntimeCaches, type WorkloadWriterOptions } from './workload-writer.ts';
import type { RuntimeLog } from './pod-files.ts';

interface KubernetesRuntimeOptions {
  readonly api: KubeApi;
  readonly caches: RuntimeCaches;
  readonly namespace: string;
  /** Returns the owner reference to a custom resource of the namespace (controller: true); undefined when it is gone. */
  readonly owner: (ref: ResourceRef) => OwnerReference | undefined;
  /** Returns references to the resources that need what the objects of an owner do (controller: false). */
  readonly coOwners?: (owner: OwnerReference) => readonly OwnerReference[];
  /** Image of workloads that name none. */
  readonly images: { readonly default: string };
  /** The namespace of the operator, which network policies admit; undefined outside the cluster. */
  readonly operatorNamespace: string | undefined;
  /** Returns a keyed digest, as the renderers use it: names of Secrets must not reveal their content. */
  readonly fingerprint: (value: string) => string;
  readonly certificateTimes: CertificateTimes;
  /** Replaces requests to servers over the network, for tests. */
  readonly askHealth?: AskHealth;
  readonly now: () => Date;
  readonly random: () => number;
  readonly event?: (event: OperatorEvent) => void;
  readonly log: RuntimeLog;
}

/** Milliseconds: a timer holds at most 24 days, and clocks may be adjusted. */
const maxWaitMs = 6 * 3_600_000;

/** Milliseconds before a refused write is tried again. */
const rejectedRetryMs = 30_000;

/** Runs the workloads of one namespace as StatefulSets, and replaces their pods itself. */
export class KubernetesRuntime implements Runtime {
  /** Runs the pods of checks; those of identity providers, too. */
  readonly checkPods: CheckPods;
  readonly #options: KubernetesRuntimeOptions;
  readonly #writer: ObjectWriter;
  readonly #rules: ClusterRules;
  readonly #certificates: CertificateKeeper;
  readonly #waiting: WaitingServers;
  readonly #keyStores: KeyStores;
  readonly #listeners: ((name: string) => void)[] = [];
  readonly #rejected = new Map<string, NonNullable<RunningWorkload['rejected']>>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  /** Uids of pods that this runtime deleted, by pod: a lagging cache shows them as running. */
  readonly #replaced = new Map<string, string>();
  /** Milliseconds since the epoch of the last change of each pod. An earlier event does not explain why a pod is missing now. */
  readonly #podsSeen = new Map<string, number>();
  /** By workload, the time at which an unscheduled pod counts as broken. */
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #written = new Map<string, Workload>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KubernetesRuntimeOptions) {
    this.#options = options;
    const { api, caches, namespace, fingerprint, coOwners, certificateTimes: times } = options;
    this.#rules = new ClusterRules(() => options.now());
    this.#writer = new ObjectWriter({
      api,
      fingerprint,
      rules: this.#rules,
      ...(coOwners === undefined ? {} : { coOwners }),
      drifted: (object, drift) => this.#drifted(object, drift),
    });
    this.checkPods = new CheckPods({ api, pods: caches.pods, namespace, random: () => options.random() });
    this.#certificates = new CertificateKeeper({
      writer: this.#writer,
      secrets: caches.secrets,
      certificates: caches.certificates,
      namespace,
      owner: (ref) => options.owner(ref),
      times,
      now: () => options.now(),
    });
    this.#keyStores = new KeyStores({
      ask: options.askHealth ?? askKeyStore,
      changed: (name) => this.#tell(name),
    });
    this.#waiting = new WaitingServers({
      ask: options.askHealth ?? askHealth,
      changed: (name) => this.#tell(name),
      now: () => options.now(),
    });
  }

  /** Call it with every change of a cached object of this namespace. It calls the listeners with the workload. */
  onEvent(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const object = after ?? before;
    if (object === undefined) return;
    if (object.kind === 'Event') return this.#failedCreate(object);
    if (object.kind === 'Pod') this.checkPods.onEvent(before, after);
    if (object.kind === 'Pod') this.#podsSeen.set(object.metadata.name, this.#options.now().getTime());
    if (object.kind === 'Pod' && after?.metadata.uid !== this.#replaced.get(object.metadata.name)) {
      this.#replaced.delete(object.metadata.name);
    }
    const workload = workloadOf(object);
    if (workload !== undefined) this.#tell(workload);
  }

  /** Returns the authorities and certificates of the namespace, for metrics and status. */
  certificateExpiries(): readonly CertificateExpiry[] {
    return this.#certificates.expiries();
  }

  /** Ends its timers. Workloads run on. */
  close(): void {
    clearTimeout(this.#timer);
    for (const timer of [...this.#retries.values(), ...this.#deadlines.values()]) clearTimeout(timer);
    this.#waiting.close();
    this.#keyStores.close();
    this.checkPods.close();
    this.#listeners.length = 0;
  }

  async ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    const issued = await this.#certificates.ensure(needs);
    this.#wakeForCertificates();
    return issued;
  }

  observe(): Promise<readonly RunningWorkload[]> {
    const { caches, namespace } = this.#options;
    const names = caches.statefulSets.list(namespace).flatMap((set) => set.metadata.labels?.[workloadLabel] ?? []);
    return Promise.resolve(names.flatMap((name) => this.#observe(name) ?? []));
  }

  observeOne(name: string): Promise<RunningWorkload | undefined> {
    return Promise.resolve(this.#observe(name));
  }

  apply(workload: Workload, secrets: ReadonlyMap<string, Secret>, proven: readonly string[] = []): Promise<void> {
    return this.#write(workload, secrets, { keepTemplate: false, proven });
  }

  refresh(workload: Workload, secrets: ReadonlyMap<string, Secret>, proven: readonly string[] = []): Promise<void> {
    return this.#write(workload, secrets, { keepTemplate: true, proven });
  }

  async renew(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void> {
    const { caches, namespace } = this.#options;
    if (caches.statefulSets.get(namespace, workload.name) === undefined) return;
    const owner = this.#ownerOf(workload);
    await this.#attempt(workload, async () => {
      const files = await resolvedFiles(workload, this.#symbols(workload, secrets), isRenewed);
      await renewFiles({ workload, owner, files }, this.#writerOptions());
    });
  }

  hasData(name: string): Promise<boolean> {
    const { caches, namespace } = this.#options;
    const runs = caches.statefulSets.get(namespace, name) !== undefined;
    return Promise.resolve(runs || caches.persistentVolumeClaims.ofWorkload(namespace, name).length > 0);
  }

  async foundVolumes(workload: Workload): Promise<readonly string[]> {
    const { caches, namespace } = this.#options;
    const found: string[] = [];
    const names = sharedClaimNames(workload);
    if (names.length === 0) return found;
    const isStart = (await this.#writer.find(caches.statefulSets, namespace, workload.name)) === undefined;
    for (const name of names) {
      const live = await this.#writer.find(caches.persistentVolumeClaims, namespace, name);
      if (live !== undefined && isFound(live, workload, isStart)) found.push(name);
    }
    return found;
  }

  async dataVolume(server: DataVolumeOwner): Promise<DataVolume | undefined> {
    const { caches, namespace } = this.#options;
    const live = await this.#writer.find(caches.persistentVolumeClaims, namespace, firstClaimName(server.name, 'data'));
    if (live === undefined) return undefined;
    return dataVolumeOf(live, server, await this.#writer.find(caches.statefulSets, namespace, server.name));
  }

  async recordDeployment(server: DataVolumeOwner, deployment: string): Promise<void> {
    const { api, caches, namespace } = this.#options;
    const claims = caches.persistentVolumeClaims;
    const live = await this.#writer.find(claims, namespace, firstClaimName(server.name, 'data'));
    if (live === undefined) return;
    const statefulSet = await this.#writer.find(caches.statefulSets, namespace, server.name);
    const patch = markedClaim(live, server, statefulSet, deployment);
    if (patch === undefined) return;
    claims.wrote(await api.patch(claims.type, namespace, live.metadata.name, patch));
  }

  async check(
    workload: Workload,
    secrets: ReadonlyMap<string, Secret>,
    found: readonly string[],
  ): Promise<string | undefined> {
    const { check } = workload;
    if (check === undefined) return undefined;
    const volume = await this.#withoutVolume(workload, check);
    if (volume !== undefined) return volume.why;
    const { namespace, operatorNamespace, fingerprint, images } = this.#options;
    const symbols = this.#symbols(workload, secrets);
    const context = {
      namespace,
      owner: this.#ownerOf(workload),
      defaultImage: images.default,
      operatorNamespace,
      resolve: (text: Text) => resolveText(text, workload, symbols),
      secret: (name: string, key: string) => symbols.secret(name, key),
      fingerprint,
    };
    const files = await resolvedFiles(workload, symbols);
    const runs = this.#options.caches.pods.ofWorkload(namespace, workload.name).length > 0;
    const asked = { ...workload, arguments: found.length === 0 ? check.arguments : check.argumentsOfFound };
    const name = this.checkPods.name(workload.name);
    const objects = workloadCheckObjects(runs ? asked : withoutAffinity(asked), files, name, context);
    const end = await this.checkPods.run(objects, checkTimeoutMs);
    if (end.kind === 'failed') return `it could not be checked: ${end.why}`;
    return end.exitCode === 0 ? undefined : end.message.trim().replace(/^Error: /, '') || `exit code ${end.exitCode}`;
  }

  /** Returns the result of a check whose volume does not exist, so that no pod can mount it. */
  async #withoutVolume(
    workload: Workload,
    { needsContent }: WorkloadCheck,
  ): Promise<{ readonly why: string | undefined } | undefined> {
    const { caches, namespace } = this.#options;
    const claims = caches.persistentVolumeClaims;
    for (const name of existingClaimNames(workload)) {
      const live = await this.#writer.find(claims, namespace, name);
      if (live === undefined) return { why: `PersistentVolumeClaim ${name} does not exist` };
    }
    for (const name of sharedClaimNames(workload)) {
      if ((await this.#writer.find(claims, namespace, name)) !== undefined) continue;
      const why = `PersistentVolumeClaim ${name} does not exist, and a new one has none of the keys that sealed data`;
      return { why: needsContent ? why : undefined };
    }
    return undefined;
  }

  async replace(name: string, instance: string): Promise<void> {
    const { api, caches, namespace } = this.#options;
    const pod = caches.pods.get(namespace, instance);
    const uid = pod?.metadata.uid;
    if (pod === undefined || uid === undefined || pod.metadata.labels?.[workloadLabel] !== name) return;
    this.#replaced.set(instance, uid);
    try {
      await api.delete(caches.pods.type, namespace, instance, { uid });
    } catch (error) {
      // Another pod has the name now: the pod was already replaced.
      if (error instanceof KubeError && error.status === 409) return;
      this.#replaced.delete(instance);
      throw error;
    }
  }

  async storeHealth(name: string): Promise<StoreHealth> {
    const { caches, namespace, askHealth: ask = askHealth } = this.#options;
    const live = caches.statefulSets.get(namespace, name);
    if (live === undefined) return { healthy: false, message: `StatefulSet ${name} does not exist` };
    // The keys of a key service are in a store that other instances also read, so one instance can always be spared.
    if (!isServer(live)) return { healthy: true, message: '' };
    const probed = this.#probedAt(live);
    if (probed === undefined) return { healthy: false, message: `Service ${name} does not exist` };
    const url = `${probed.scheme}://${serviceAddress(name, namespace, probed.port)}/minio/health/cluster`;
    return storeHealthBy(ask, { url, authorities: this.#certificates.authoritiesOf(name) });
  }

  isKeyStoreAway(name: string): boolean {
    const { caches, namespace } = this.#options;
    const live = caches.statefulSets.get(namespace, name);
    const probed = live === undefined || isServer(live) ? undefined : this.#probedAt(live);
    if (probed === undefined) return false;
    const url = `${probed.scheme}://${serviceAddress(name, namespace, probed.port)}/v1/ready`;
    return this.#keyStores.isAway(name, { url, authorities: this.#certificates.authoritiesOf(name) });
  }

  #probedAt(statefulSet: KubeObject): { readonly scheme: string; readonly port: number } | undefined {
    const { caches, namespace } = this.#options;
    const probe = statefulSetView(statefulSet).spec.template.spec.containers[0]?.readinessProbe?.httpGet;
    const port = portsOf(caches.services.get(namespace, statefulSet.metadata.name)).get(String(probe?.port));
    return probe === undefined || port === undefined ? undefined : { scheme: probe.scheme.toLowerCase(), port };
  }

  /** Sends the request to the pod itself: no Service leads to a pod that is not ready. */
  #readinessOf(statefulSet: KubeObject, pod: KubeObject | undefined): HealthRequest | undefined {
    const status = pod === undefined ? undefined : podView(pod).status;
    if (status?.phase !== 'Running' || status.podIP === undefined || !isServer(statefulSet)) return undefined;
    const probed = this.#probedAt(statefulSet);
    if (probed === undefined) return undefined;
    const host = status.podIP.includes(':') ? `[${status.podIP}]` : status.podIP;
    const authorities = this.#certificates.authoritiesOf(statefulSet.metadata.name);
    return { url: `${probed.scheme}://${host}:${probed.port}/minio/health/ready`, authorities };
  }

  async remove(name: string): Promise<void> {
    const { caches, namespace } = this.#options;
    const monitors = caches.serviceMonitors();
    this.#rejected.delete(name);
    this.#written.delete(name);
    this.#waiting.forget(name);
    this.#keyStores.forget(name);
    for (const cache of [
      caches.ingresses,
      ...(monitors === undefined ? [] : [monitors]),
      caches.statefulSets,
      caches.podDisruptionBudgets,
      caches.networkPolicies,
      caches.services,
      caches.secrets,
    ]) {
      for (const object of cache.ofWorkload(namespace, name)) await this.#writer.remove(object, cache);
    }
    for (const cache of [caches.certificates(), caches.secrets]) {
      for (const object of cache?.list(namespace) ?? []) {
        if (cache !== undefined && certifies(object, name)) await this.#writer.remove(object, cache);
      }
    }
  }

  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  async #write(
    workload: Workload,
    secrets: ReadonlyMap<string, Secret>,
    how: { readonly keepTemplate: boolean; readonly proven: readonly string[] },
  ): Promise<void> {
    this.#written.set(workload.name, workload);
    const owner = this.#ownerOf(workload);
    const symbols = this.#symbols(workload, secrets);
    await this.#attempt(workload, async () => {
      const files = await resolvedFiles(workload, symbols);
      const notGrown = await writeWorkload({ workload, owner, symbols, files, ...how }, this.#writerOptions());
      await this.#certificates.removeUnused(workload.owner, certificatesOf(workload));
      if (notGrown === undefined) this.#rejected.delete(workload.name);
      else this.#refuse(workload.name, 'VolumeNotGrown', notGrown);
    });
  }

  #failedCreate(event: KubeObject): void {
    const { caches, namespace } = this.#options;
    const name = failedCreateView(event)?.statefulSet;
    if (name !== undefined && caches.statefulSets.get(namespace, name) !== undefined) this.#tell(name);
  }

  #ownerOf({ owner }: Workload): OwnerReference {
    const reference = this.#options.owner(owner);
    if (reference === undefined) throw new Error(`${owner.kind} ${owner.name} is gone`);
    return reference;
  }

  #symbols(workload: Workload, secrets: ReadonlyMap<string, Secret>) {
    return podSymbols(workload, {
      secrets,
      namespace: this.#options.namespace,
      certificate: (name, part) => this.#certificates.part(name, part),
      portOf: (name, port) => this.#portOf(name, port),
    });
  }

  #writerOptions(): WorkloadWriterOptions {
    return {
      ...this.#options,
      writer: this.#writer,
      rules: this.#rules,
      defaultImage: this.#options.images.default,
      drifted: (object, drift) => this.#drifted(object, drift),
    };
  }

  #drifted(object: KubeObject, { managers, paths }: Drift): void {
    const ref = ownerOf(object);
    if (ref === undefined) return;
    const who = managers.length === 0 ? 'an unknown field manager' : managers.join(', ');
    const message = `put back what ${who} changed of ${object.kind} ${object.metadata.name}: ${paths.slice(0, 5).join(', ')}`;
    this.#options.event?.({ ref, type: 'Warning', reason: 'Drift', message });
  }

  /** Runs a write. A conflict becomes part of the workload's state, and is not an error of the reconcile. */
  async #attempt({ name }: Workload, write: () => Promise<void>): Promise<void> {
    const { namespace, log } = this.#options;
    try {
      await write();
    } catch (error) {
      if (isConflict(error)) this.#refuse(name, error.code, error.message);
      // The cache reports when the object is gone, which leads to the next attempt.
      else if (error instanceof ResourceError && error.code === 'StillBeingDeleted')
        log.info({ namespace, workload: name }, error.message);
      else throw error;
    }
  }

  #refuse(workload: string, reason: RefusalReason, message: string): void {
    const { log, namespace } = this.#options;
    if (this.#rejected.get(workload)?.message !== message) log.warn({ namespace, workload, reason }, message);
    this.#rejected.set(workload, { reason, message });
    // The conflicting object is not the operator's, so no cache reports when it goes.
    clearTimeout(this.#retries.get(workload));
    this.#retries.set(workload, setTimeout(() => this.#tell(workload), rejectedRetryMs).unref());
  }

  #observe(name: string): RunningWorkload | undefined {
    const { caches, namespace, fingerprint, now } = this.#options;
    const statefulSet = caches.statefulSets.get(namespace, name);
    const rejected = this.#rejected.get(name);
    if (statefulSet === undefined || statefulSet.metadata.labels?.[workloadLabel] !== name) {
      return (
        rejected && {
          name,
          inputs: [],
          state: { kind: 'stopped' },
          instances: [],
          wanted: 0,
          rejected,
          addresses: {},
        }
      );
    }
    const pods = caches.pods.ofWorkload(namespace, name);
    this.#wakeForScheduling(name, pods);
    const claims = caches.persistentVolumeClaims.ofWorkload(namespace, name);
    const live = {
      statefulSet,
      fingerprint,
      pods,
      service: caches.services.get(namespace, name),
      replaced: new Set(this.#replaced.values()),
      rejected,
      resizing: resizingVolumes(this.#written.get(name), claims),
      deletedClaims: deletedClaims(claims, pods),
      rejectedPods: rejectedPods(statefulSet, caches.failedCreates()?.list(namespace) ?? [], this.#podsSeen),
    };
    const view = workloadView(live, now());
    const podOf = (instance: string) => pods.find(({ metadata }) => metadata.name === instance);
    const requestTo = (instance: string) => this.#readinessOf(statefulSet, podOf(instance));
    const absent = this.#absentKinds(name);
    const rules = this.#rules.of(this.#objectsOf(name).map(keyOf));
    return {
      ...view,
      ...(rules.length === 0 ? {} : { clusterRules: rules }),
      ...(absent.length === 0 ? {} : { absentKinds: absent }),
      instances: this.#waiting.look(name, view.instances, requestTo),
    };
  }

  /** Returns the objects of a workload whose changes are put back. */
  #objectsOf(name: string): readonly KubeObject[] {
    const { caches, namespace } = this.#options;
    const { statefulSets, services, networkPolicies, podDisruptionBudgets, ingresses } = caches;
    return [statefulSets, services, networkPolicies, podDisruptionBudgets, ingresses].flatMap((cache) =>
      cache.ofWorkload(namespace, name),
    );
  }

  /** Returns the kinds that the workload asks for by its options, and that the cluster does not know. */
  #absentKinds(name: string): readonly string[] {
    const wanted = this.#written.get(name)?.kubernetes.monitoring !== undefined;
    return wanted && this.#options.caches.serviceMonitors() === undefined
      ? ['ServiceMonitor (monitoring.coreos.com/v1)']
      : [];
  }

  /** Returns the port of a workload that this process applied, or else of a running one. */
  #portOf(workload: string, port: string): number {
    const { caches, namespace } = this.#options;
    const known = this.#written.get(workload)?.ports.find(({ name }) => name === port)?.port;
    const number = known ?? portsOf(caches.services.get(namespace, workload)).get(port);
    if (number === undefined) throw new Error(`the address of ${workload} is needed, which is not there yet`);
    return number;
  }

  /** Calls the listeners at a deadline, since no object of the cluster changes then. */
  #wakeForScheduling(workload: string, pods: readonly KubeObject[]): void {
    clearTimeout(this.#deadlines.get(workload));
    this.#deadlines.delete(workload);
    const now = this.#options.now().getTime();
    const waits = pods.map((pod) => (schedulingDeadline(podView(pod)) ?? Number.NaN) - now).filter((wait) => wait > 0);
    if (waits.length === 0) return;
    const timer = setTimeout(() => this.#tell(workload), Math.min(...waits, maxWaitMs));
    this.#deadlines.set(workload, timer.unref());
  }

  #wakeForCertificates(): void {
    const now = this.#options.now();
    const { next } = this.#certificates.due(now);
    clearTimeout(this.#timer);
    if (next === undefined) return;
    const wait = Math.min(Math.max(next.getTime() - now.getTime(), 1_000), maxWaitMs);
    this.#timer = setTimeout(() => {
      for (const owner of this.#certificates.due(this.#options.now()).owners) this.#tell(workloadName(owner));
      this.#wakeForCertificates();
    }, wait);
    this.#timer.unref();
  }

  #tell(workload: string): void {
    for (const listener of this.#listeners) listener(workload);
  }
}

function isServer({ metadata: { labels } }: KubeObject): boolean {
  return labels?.['app.kubernetes.io/component'] === 'server';
}

/** The instances of a key service share the node of their volume. Where none runs, no node would be the one that they share. */
function withoutAffinity(workload: Workload): Workload {
  const { affinity: _, ...pod } = workload.kubernetes.pod;
  return { ...workload, kubernetes: { ...workload.kubernetes, pod } };
}

/** Reports whether an object has a certificate of the workload or the authority of a key service. */
function certifies(object: KubeObject, workload: string): boolean {
  const { [certificateLabel]: certificate, [authorityLabel]: authority } = object.metadata.labels ?? {};
  if (certificate !== undefined) return workloadOf(object) === workload;
  return authority !== undefined && workloadName({ kind: 'KMSConfig', name: authority }) === workload;
}

/** Returns the workload of an object; for a certificate the workload of its owner. */
function workloadOf({ metadata: { labels = {} } }: KubeObject): string | undefined {
  const { [workloadLabel]: workload, [ownerKindLabel]: kind, [ownerLabel]: name } = labels;
  if (workload !== undefined) return workload;
  return (kind === 'Tenant' || kind === 'KMSConfig') && name !== undefined ? workloadName({ kind, name }) : undefined;
}
