import { ResourceError } from '../../../api/resource-error.ts';
import { isDeepStrictEqual } from 'node:util';
import {
  type Cache,
  type KubeApi,
  type KubeObject,
  type OwnerReference,
  KubeError,
} from '../../../kube-client/kube-api.ts';
import { resolveText, type Symbols } from '../../../contract/resolve.ts';
import type { Workload } from '../../../contract/workload.ts';
import type { Drift } from './drift.ts';
import type { ClusterRules } from './cluster-rules.ts';
import { adjustedClaim, growths, isFoundVolume, otherTemplates, takenClaim } from './claims.ts';
import type { RuntimeLog } from './pod-files.ts';
import { immutableParts, liveTemplate, mountedKeys, podsAreKnown, statefulSetView } from './live-workload.ts';
import { keyOf, type ObjectWriter } from './object-writer.ts';
import {
  fileKey,
  fileSecretNames,
  fileSecrets,
  reloadingSecretName,
  type ResolvedFile,
  type ObjectContext,
} from '../objects/object-context.ts';
import { contentLabel } from '../objects/labels.ts';
import { newTemplate, type KeptTemplate } from '../objects/stateful-set.ts';
import { firstClaimName } from '../objects/volumes.ts';
import { workloadObjects } from '../objects/workload-objects.ts';
import { annotatePods } from './pod-files.ts';
import { repairedTemplate } from './repaired-template.ts';

export interface WorkloadWriterOptions {
  readonly api: KubeApi;
  readonly writer: ObjectWriter;
  readonly caches: RuntimeCaches;
  readonly namespace: string;
  readonly defaultImage: string;
  readonly operatorNamespace: string | undefined;
  readonly fingerprint: (value: string) => string;
  /** Called after a manual change was reverted. */
  readonly drifted?: (object: KubeObject, drift: Drift) => void;
  readonly rules: ClusterRules;
  readonly log: RuntimeLog;
}

interface WorkloadToWrite {
  readonly workload: Workload;
  readonly owner: OwnerReference;
  readonly symbols: Symbols;
  readonly files: readonly ResolvedFile[];
  /** Inputs that need a restart stay as they are. */
  readonly keepTemplate: boolean;
  /** Claims that were found, and that are proven to belong to the workload. */
  readonly proven: readonly string[];
}

/**
 * Makes the objects of a workload match it, and removes objects that it no longer needs. Returns why a volume did not grow, if so. Errors
 * with `ResourceError` and `KubeError`.
 */
export async function writeWorkload(
  { workload: asked, owner, symbols, files, keepTemplate, proven }: WorkloadToWrite,
  options: WorkloadWriterOptions,
): Promise<string | undefined> {
  const { caches, namespace, writer, fingerprint } = options;
  const live = await writer.find(caches.statefulSets, namespace, asked.name);
  const workload = await keepingFound(asked, live, options);
  if (live !== undefined && !keepTemplate) await replaceTemplates(workload, live, options);
  const pods = caches.pods.ofWorkload(namespace, workload.name);
  const mounted = mountedKeys([...pods.map((pod) => pod['spec']), ...(live === undefined ? [] : [templateSpec(live)])]);
  const context: ObjectContext = {
    namespace,
    owner,
    defaultImage: options.defaultImage,
    operatorNamespace: options.operatorNamespace,
    resolve: (text) => resolveText(text, workload, symbols),
    secret: (name, key) => symbols.secret(name, key),
    files: fileSecretNames(workload.name, files, fingerprint),
    fingerprint,
  };
  const repaired = live === undefined ? undefined : await repairedTemplate(workload, live, context, options);
  const template = live === undefined ? undefined : (repaired ?? templateOf(workload, live, keepTemplate, context));
  const parts = {
    files,
    keptFiles: keptFiles(workload.name, mounted, options),
    kept: live && {
      immutable: immutableParts(live),
      template,
      admitted: options.rules.admittedPaths(keyOf(live)),
    },
  };
  const wanted = workloadObjects(workload, parts, context).filter(
    // A template that stays names the files that it was made with. Other files would be unused.
    (object) =>
      !isFixedFiles(object) || template === undefined || repaired !== undefined || mounted.has(object.metadata.name),
  );
  for (const claim of proven) await take(claim, workload, options);
  for (const object of wanted) await ensure(object, options);
  const reloading = wanted.find(isReloadingFiles);
  if (reloading !== undefined) await annotatePods(workload.name, reloading, { ...options, pods: caches.pods });
  await removeStale(workload.name, wanted, options);
  return grow(workload, options);
}

/** A volume that was there before the server is not deleted with a resource that did not make it, whatever its `reclaimPolicy` is. */
async function keepingFound(
  workload: Workload,
  live: KubeObject | undefined,
  { caches, namespace, writer }: WorkloadWriterOptions,
): Promise<Workload> {
  const { kubernetes, mounts, name } = workload;
  if (kubernetes.reclaimPolicy !== 'Delete') return workload;
  for (const mount of mounts) {
    if (mount.kind !== 'volume' || mount.claim.kind !== 'each') continue;
    const claim = await writer.find(caches.persistentVolumeClaims, namespace, firstClaimName(name, mount.name));
    if (claim !== undefined && isFoundVolume(claim, workload, live)) {
      return { ...workload, kubernetes: { ...kubernetes, reclaimPolicy: 'Retain' } };
    }
  }
  return workload;
}

/**
 * Rewrites existing files in the Secret of reloading files, and changes nothing else of the workload. Errors with `ResourceError` and
 * `KubeError`.
 */
export async function renewFiles(
  { workload, owner, files }: Pick<WorkloadToWrite, 'workload' | 'owner' | 'files'>,
  options: WorkloadWriterOptions,
): Promise<void> {
  const { caches, namespace, writer } = options;
  const reloading = reloadingSecretName(workload.name);
  const live = dataOf(await writer.find(caches.secrets, namespace, reloading));
  const known = files.filter(({ mount, path }) => fileKey(mount, path) in live);
  if (known.length === 0) return;
  const context = { namespace, owner, files: { fixed: undefined, reloading } };
  for (const secret of fileSecrets(workload, known, live, context)) {
    await writer.ensure(secret, caches.secrets);
    await annotatePods(workload.name, secret, { ...options, pods: caches.pods });
  }
}

/** Returns the live template when it stays: it is the wanted one, or it was rendered from the same inputs. */
function templateOf(
  workload: Workload,
  live: KubeObject,
  keepTemplate: boolean,
  context: ObjectContext,
): KeptTemplate | undefined {
  const kept = liveTemplate(live);
  if (keepTemplate) return kept;
  return isDeepStrictEqual(kept.annotations, newTemplate(workload, context).annotations) ? kept : undefined;
}

/** Returns the cache for an object of a workload; undefined for a type that the cluster does not know. */
function cacheOf({ kind }: KubeObject, caches: RuntimeCaches): Cache | undefined {
  return [...cachesOfObjects(caches), caches.statefulSets, caches.persistentVolumeClaims].find(
    ({ type }) => type.kind === kind,
  );
}

function cachesOfObjects(caches: RuntimeCaches): readonly Cache[] {
  const monitors = caches.serviceMonitors();
  return [
    caches.secrets,
    caches.services,
    caches.networkPolicies,
    caches.podDisruptionBudgets,
    caches.ingresses,
    ...(monitors === undefined ? [] : [monitors]),
  ];
}

async function take(claim: string, workload: Workload, { api, caches, namespace }: WorkloadWriterOptions) {
  const { type } = caches.persistentVolumeClaims;
  caches.persistentVolumeClaims.wrote(await api.patch(type, namespace, claim, takenClaim(workload)));
}

async function ensure(object: KubeObject, { caches, namespace, writer, log }: WorkloadWriterOptions): Promise<void> {
  const cache = cacheOf(object, caches);
  if (cache === undefined) {
    log.info(
      { namespace, kind: object.kind, name: object.metadata.name },
      'not made: the cluster does not know its kind',
    );
    return;
  }
  const isClaim = object.kind === 'PersistentVolumeClaim';
  const wanted = isClaim ? adjustedClaim(object, await writer.find(cache, namespace, object.metadata.name)) : object;
  await writer.ensure(wanted, cache);
}

/**
 * A StatefulSet cannot change the claims that it makes. It is deleted and made again while its pods run on: the new one adopts them by
 * their labels, and they are replaced one after the other.
 */
async function replaceTemplates(workload: Workload, live: KubeObject, options: WorkloadWriterOptions): Promise<void> {
  if (!otherTemplates(workload, statefulSetView(live).spec.volumeClaimTemplates)) return;
  const { uid, deletionTimestamp } = live.metadata;
  if (deletionTimestamp === undefined) {
    const precondition = { uid };
    await options.api.delete(options.caches.statefulSets.type, options.namespace, workload.name, {
      ...precondition,
      propagationPolicy: 'Orphan',
    });
  }
  throw new ResourceError(
    'StillBeingDeleted',
    `StatefulSet ${workload.name} is made again for its other volumes; its pods run on`,
  );
}

function keptFiles(
  workload: string,
  mounted: ReadonlyMap<string, ReadonlySet<string>>,
  { caches, namespace }: WorkloadWriterOptions,
): Readonly<Record<string, string>> {
  const name = reloadingSecretName(workload);
  const data = dataOf(caches.secrets.get(namespace, name));
  // A pod whose volume names a missing key cannot start and is not updated.
  const keys = mounted.get(name) ?? new Set();
  return Object.fromEntries(Object.entries(data).filter(([key]) => keys.has(key)));
}

function dataOf(secret: KubeObject | undefined): Readonly<Record<string, string>> {
  const data = secret?.['data'];
  return typeof data === 'object' && data !== null ? (data as Record<string, string>) : {};
}

async function removeStale(
  workload: string,
  wanted: readonly KubeObject[],
  { caches, namespace, writer }: WorkloadWriterOptions,
): Promise<void> {
  const kept = new Set(wanted.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  const inUse = filesInUse(workload, caches, namespace);
  for (const cache of cachesOfObjects(caches)) {
    for (const object of cache.ofWorkload(namespace, workload)) {
      if (kept.has(`${object.kind}/${object.metadata.name}`)) continue;
      if (object.kind === 'Secret' && (inUse === undefined || inUse.has(object.metadata.name))) continue;
      await writer.remove(object, cache);
    }
  }
}

/** Names the Secrets that the template or a pod mounts; undefined while a pod may exist that is not in the cache. */
function filesInUse(workload: string, caches: RuntimeCaches, namespace: string): ReadonlySet<string> | undefined {
  const live = caches.statefulSets.get(namespace, workload);
  const pods = caches.pods.ofWorkload(namespace, workload);
  if (live === undefined || !podsAreKnown(statefulSetView(live), pods.length)) return undefined;
  return new Set(mountedKeys([templateSpec(live), ...pods.map((pod) => pod['spec'])]).keys());
}

async function grow(workload: Workload, { api, caches, namespace, log }: WorkloadWriterOptions) {
  const claims = caches.persistentVolumeClaims;
  for (const { claim, patch, from, to, isReduction } of growths(
    workload,
    claims.ofWorkload(namespace, workload.name),
  )) {
    try {
      claims.wrote(await api.patch(claims.type, namespace, claim, patch));
      log.info({ namespace, claim, from, to }, 'a claim asks for another size');
    } catch (error) {
      // The storage class may not allow growth. The other steps must go on.
      if (!(error instanceof KubeError) || error.status === undefined || error.status >= 500) throw error;
      const what = `PersistentVolumeClaim ${claim} has ${from}, and ${to} was asked: ${error.message}; `;
      return isReduction
        ? `${what}set the size to ${from} again, or to that of the volume`
        : `${what}let its StorageClass grow volumes (allowVolumeExpansion: true), or set the size back`;
    }
  }
  return undefined;
}

function templateSpec(statefulSet: KubeObject): unknown {
  return statefulSetView(statefulSet).spec.template.spec;
}

function isReloadingFiles({ kind, metadata }: KubeObject): boolean {
  return kind === 'Secret' && metadata.labels?.[contentLabel] === 'reloading';
}

function isFixedFiles({ kind, metadata }: KubeObject): boolean {
  return kind === 'Secret' && metadata.labels?.[contentLabel] === 'static';
}

/** The caches that the runtime reads: one for each type of object that it makes, for all namespaces. */
export interface RuntimeCaches {
  readonly statefulSets: Cache;
  readonly pods: Cache;
  readonly secrets: Cache;
  readonly services: Cache;
  readonly persistentVolumeClaims: Cache;
  readonly podDisruptionBudgets: Cache;
  readonly networkPolicies: Cache;
  readonly ingresses: Cache;
  readonly serviceAccounts: Cache;
  /** Events of reason FailedCreate about StatefulSets; undefined while they are not readable. */
  readonly failedCreates: () => Cache | undefined;
  /** `monitoring.coreos.com/v1` ServiceMonitor; undefined while the cluster does not know the type. */
  readonly serviceMonitors: () => Cache | undefined;
  /** `cert-manager.io/v1` Certificate; undefined while the cluster does not know the type. */
  readonly certificates: () => Cache | undefined;
}
