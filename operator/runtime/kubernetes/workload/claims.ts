import { z } from 'zod';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { DataVolume, DataVolumeOwner, ResizingVolume } from '../../../contract/runtime.ts';
import type { Json, Workload } from '../../../contract/workload.ts';
import { deploymentAnnotation, madeAnnotation, sealedForAnnotation, workloadLabels } from '../objects/labels.ts';
import { claimTemplates, sharedClaimName, sizeOf } from '../objects/volumes.ts';
import { largerQuantity } from '../../../api/volume-fields.ts';

const claimSpec = z.object({
  accessModes: z.array(z.string()).default([]),
  storageClassName: z.string().optional(),
  resources: z.object({ requests: z.object({ storage: z.string() }) }),
});
const claimStatus = z.object({
  capacity: z.object({ storage: z.string().optional() }).optional(),
  allocatedResourceStatuses: z.object({ storage: z.string().optional() }).optional(),
  conditions: z.array(z.object({ type: z.string(), status: z.string(), message: z.string().optional() })).default([]),
});
const claim = z.object({ spec: claimSpec, status: claimStatus.default({ conditions: [] }) });
const template = z.object({ metadata: z.object({ name: z.string() }), spec: claimSpec });

/** Another size for a claim: a larger one, or a smaller one that takes a growth back. */
interface Growth {
  readonly claim: string;
  readonly patch: Json;
  readonly from: string;
  readonly to: string;
  readonly isReduction: boolean;
}

/**
 * Returns the claims that are smaller than the workload asks for. The templates of a StatefulSet never change, so the operator changes the
 * claims themselves. Kubernetes cannot shrink a claim. It lets a growth that did not happen be reduced, to a size above that of the volume.
 *
 * @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#recovering-from-failure-when-expanding-volumes
 */
export function growths(workload: Workload, claims: readonly KubeObject[]): readonly Growth[] {
  return sizes(workload, claims).flatMap(({ claim: name, has, wanted, capacity }): Growth[] => {
    const isReduced = capacity !== undefined && isLess(capacity, wanted) && isLess(wanted, has);
    if (!isLess(has, wanted) && !isReduced) return [];
    const patch = { spec: { resources: { requests: { storage: wanted } } } };
    return [{ claim: name, patch, from: has, to: wanted, isReduction: isReduced }];
  });
}

/** Returns the claims whose volume is smaller than they ask for, and those that are larger than the workload asks for. */
export function resizingVolumes(
  workload: Workload | undefined,
  claims: readonly KubeObject[],
): readonly ResizingVolume[] {
  const kept = (workload === undefined ? [] : sizes(workload, claims)).flatMap(keptVolume);
  const isKept = new Set(kept.map((volume) => volume.claim));
  return [
    ...claims.filter(({ metadata }) => !isKept.has(metadata.name)).flatMap((live) => growing(live) ?? []),
    ...kept,
  ].sort((a, b) => a.claim.localeCompare(b.claim, 'en', { numeric: true }));
}

const podVolumes = z.object({
  volumes: z.array(z.object({ persistentVolumeClaim: z.object({ claimName: z.string() }).optional() })).default([]),
});

/** Returns the names of deleted claims that a pod uses, which is why they are still there. */
export function deletedClaims(claims: readonly KubeObject[], pods: readonly KubeObject[]): readonly string[] {
  const used = new Set(
    pods.flatMap((pod) =>
      podVolumes.parse(pod['spec'] ?? {}).volumes.map((volume) => volume.persistentVolumeClaim?.claimName),
    ),
  );
  return claims
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined && used.has(metadata.name))
    .map(({ metadata }) => metadata.name)
    .sort();
}

/** Returns a volume that keeps its size, since the workload asks for no more than that. The claim may still ask for a growth that was taken back. */
function keptVolume({ claim: name, has, wanted, capacity = has }: SizedClaim): ResizingVolume[] {
  // A growth is under way, is reduced, or there is none. Storage may give more than a claim asks for.
  if (!isLess(wanted, has) || isLess(capacity, wanted)) return [];
  const kept = isLess(capacity, has) ? capacity : has;
  if (isLess(wanted, kept)) return [{ claim: name, has: kept, asked: wanted, state: 'cannot-shrink' }];
  return [{ claim: name, has: kept, asked: has, state: 'taken-back' }];
}

interface SizedClaim {
  readonly claim: string;
  /** The size that the claim asks for. */
  readonly has: string;
  /** The size that the workload asks for. */
  readonly wanted: string;
  /** The size of the volume; undefined before there is one. */
  readonly capacity: string | undefined;
}

function isLess(a: string, b: string): boolean {
  return largerQuantity(a, b) !== a;
}

/** Returns the claims of the workload's own mounts, with the requested and the wanted size. */
function sizes(workload: Workload, claims: readonly KubeObject[]): readonly SizedClaim[] {
  return workload.mounts.flatMap((mount) => {
    if (mount.kind !== 'volume' || mount.claim.kind === 'existing') return [];
    const shared = mount.claim.kind === 'shared' ? sharedClaimName(workload.name, mount.name) : undefined;
    const name = new RegExp(`^${shared ?? `${mount.name}-${workload.name}-[0-9]+`}$`);
    return claims
      .filter(({ metadata }) => name.test(metadata.name) && metadata.deletionTimestamp === undefined)
      .map((live) => {
        const { spec, status } = claim.parse(live);
        const has = spec.resources.requests.storage;
        return { claim: live.metadata.name, has, wanted: sizeOf(mount), capacity: status.capacity?.storage };
      });
  });
}

/**
 * Returns undefined for a volume of the right size, and for a claim without a volume.
 *
 * @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims
 */
function growing(live: KubeObject): ResizingVolume | undefined {
  const { spec, status } = claim.parse(live);
  const asked = spec.resources.requests.storage;
  const has = status.capacity?.storage;
  if (has === undefined || largerQuantity(has, asked) === has) return undefined;
  const holds = (wanted: RegExp) =>
    status.conditions.find(({ type, status: value }) => value === 'True' && wanted.test(type));
  const failed = holds(/^(Controller|Node)Resize(Error|Failed)$/);
  const infeasible = status.allocatedResourceStatuses?.storage?.endsWith('Infeasible') === true;
  const ref = failed ?? holds(/^FileSystemResizePending$/) ?? holds(/^Resizing$/);
  const state =
    failed !== undefined || infeasible
      ? 'failed'
      : ref?.type === 'FileSystemResizePending'
        ? 'waits-for-pod'
        : 'growing';
  const message = ref?.message ?? '';
  const { name, namespace } = live.metadata;
  return {
    claim: name,
    ...(namespace !== undefined && { namespace }),
    has,
    asked,
    state,
    ...(message === '' ? {} : { message }),
  };
}

/**
 * Returns a shared claim in the form that may be sent for an existing one: only its size can change, which `growths` does. It keeps the
 * tenants whose data its keys encrypt. With such tenants the claim belongs to no resource, so that no deletion takes it along.
 */
export function adjustedClaim(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  if (live === undefined) return wanted;
  const metadata = keptMetadata(wanted, live);
  const has = claim.parse(live).spec;
  const { accessModes, storageClassName, resources } = has;
  const spec = { accessModes, ...(storageClassName === undefined ? {} : { storageClassName }) };
  return { ...wanted, metadata, spec: { ...spec, resources } };
}

function keptMetadata({ metadata }: KubeObject, live: KubeObject): KubeObject['metadata'] {
  const wanted = metadata.annotations?.[sealedForAnnotation];
  if (wanted === undefined) return metadata;
  // An older operator, which did not record the tenants, made the claim: some tenant may have encrypted data.
  const before = live.metadata.annotations?.[sealedForAnnotation] ?? 'unknown';
  const all = [...new Set([...before.split('\n'), ...wanted.split('\n')])].filter((name) => name !== '');
  const { ownerReferences, ...rest } = metadata;
  const annotations = { ...metadata.annotations, [sealedForAnnotation]: all.join('\n') };
  return { ...rest, annotations, ...(all.length === 0 && ownerReferences !== undefined ? { ownerReferences } : {}) };
}

/** Names the claims that the operator makes for all instances of a workload. */
export function sharedClaimNames({ name, mounts }: Workload): readonly string[] {
  return mounts.flatMap((mount) =>
    mount.kind === 'volume' && mount.claim.kind === 'shared' ? [sharedClaimName(name, mount.name)] : [],
  );
}

/** Names the claims that a user made for a workload. */
export function existingClaimNames({ mounts }: Workload): readonly string[] {
  return mounts.flatMap((mount) =>
    mount.kind === 'volume' && mount.claim.kind === 'existing' ? [mount.claim.claimName] : [],
  );
}

/**
 * Reports whether a claim was there before the workload, so that nothing tells what it holds: a restored one, one that stayed after its
 * resource, or one that another program made.
 *
 * @param isStart true while the workload has no StatefulSet, which is made before the claim
 */
export function isFound({ metadata }: KubeObject, workload: Workload, isStart: boolean): boolean {
  // A claim with an owner is in use, or goes with it.
  if (metadata.deletionTimestamp !== undefined || metadata.ownerReferences?.some(({ controller }) => controller)) {
    return false;
  }
  const labels = metadata.labels ?? {};
  const isOurs = Object.entries(workloadLabels(workload)).every(([label, value]) => labels[label] === value);
  if (!isOurs) return true;
  return isStart && metadata.annotations?.[sealedForAnnotation] !== '';
}

/**
 * Returns what a claim of a server's data says about its store. A claim that is older than the StatefulSet was not made by it: it was restored,
 * it stayed after its resource, or another program made it.
 */
export function dataVolumeOf(
  { metadata }: KubeObject,
  server: DataVolumeOwner,
  statefulSet: KubeObject | undefined,
): DataVolume {
  const { name: claim, uid } = metadata;
  const deployment = z.uuid().safeParse(metadata.annotations?.[deploymentAnnotation]).data;
  if (deployment !== undefined) return { claim, deployment };
  return isMadeBy(statefulSet, metadata, server) ? { claim } : { claim, unproven: z.uuid().safeParse(uid).data };
}

function isMadeBy(
  statefulSet: KubeObject | undefined,
  { labels = {}, creationTimestamp = '' }: KubeObject['metadata'],
  server: DataVolumeOwner,
): boolean {
  const isOurs = Object.entries(workloadLabels(server)).every(([label, value]) => labels[label] === value);
  const isOlder = Date.parse(creationTimestamp) < Date.parse(statefulSet?.metadata.creationTimestamp ?? '');
  return isOurs && statefulSet !== undefined && !isOlder;
}

/** Reports whether the claim of a server's data was there before the server. Then it stays when the resource is deleted. */
export function isFoundVolume(
  { metadata }: KubeObject,
  server: DataVolumeOwner,
  statefulSet: KubeObject | undefined,
): boolean {
  const marks = metadata.annotations ?? {};
  // A marked claim has the labels of the operator, also where something else made it.
  if (marks[deploymentAnnotation] !== undefined) return marks[madeAnnotation] !== metadata.uid;
  return !isMadeBy(statefulSet, metadata, server);
}

/**
 * Returns the patch by which a claim is marked with the deployment whose store it holds; undefined where it is. It names the claim by its UID, so
 * that the API server refuses it for another claim that got the name meanwhile.
 */
export function markedClaim(
  { metadata }: KubeObject,
  server: DataVolumeOwner,
  statefulSet: KubeObject | undefined,
  deployment: string,
): Json | undefined {
  const before = metadata.annotations?.[deploymentAnnotation];
  if (before === deployment) return undefined;
  const { uid } = metadata;
  const isMade = before === undefined && isMadeBy(statefulSet, metadata, server);
  const made: Readonly<Record<string, string>> = isMade && uid !== undefined ? { [madeAnnotation]: uid } : {};
  const annotations = { [deploymentAnnotation]: deployment, ...made };
  return { metadata: { ...(uid !== undefined && { uid }), labels: workloadLabels(server), annotations } };
}

/** Returns the patch by which a proven claim is taken. It gets no owner: it is not deleted with a resource that did not make it. */
export function takenClaim(workload: Workload): Json {
  return { metadata: { labels: workloadLabels(workload) } };
}

/** Reports whether the instances need claims that the templates of the live StatefulSet do not make. */
export function otherTemplates(workload: Workload, liveTemplates: unknown): boolean {
  const wanted = claimTemplates(workload).map(templateKey);
  const live = (Array.isArray(liveTemplates) ? liveTemplates : []).map(templateKey);
  return (
    wanted.length !== live.length ||
    wanted.some(({ name, modes, storageClass }) => {
      const same = live.find((candidate) => candidate.name === name);
      // Without a class the cluster filled in its default one.
      return same === undefined || same.modes !== modes || (storageClass ?? same.storageClass) !== same.storageClass;
    })
  );
}

function templateKey(json: unknown) {
  const { metadata, spec } = template.parse(json);
  return { name: metadata.name, modes: spec.accessModes.join(), storageClass: spec.storageClassName };
}
