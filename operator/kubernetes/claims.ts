import { z } from 'zod';
import type { KubeObject } from '../kube/kube-api.ts';
import type { Json, Workload } from '../workload.ts';
import { sealedForAnnotation } from './objects/labels.ts';
import { claimTemplates } from './objects/volumes.ts';
import { largerQuantity } from '../api/quantity.ts';

const claimSpec = z.object({
  accessModes: z.array(z.string()).default([]),
  storageClassName: z.string().optional(),
  resources: z.object({ requests: z.object({ storage: z.string() }) }),
});
const claim = z.object({ spec: claimSpec });
const template = z.object({ metadata: z.object({ name: z.string() }), spec: claimSpec });

/** A request for a larger volume. */
export interface Growth {
  readonly claim: string;
  readonly patch: Json;
  readonly from: string;
  readonly to: string;
}

/**
 * Claims of the instances that are smaller than the workload asks for. The templates of a StatefulSet never change, so the claims
 * are changed themselves. None ever shrinks: Kubernetes cannot do that.
 */
export function growths(workload: Workload, claims: readonly KubeObject[]): readonly Growth[] {
  return claimTemplates(workload).flatMap((json) => {
    const { metadata, spec } = template.parse(json);
    const wanted = spec.resources.requests.storage;
    const name = new RegExp(`^${metadata.name}-${workload.name}-[0-9]+$`);
    return claims.flatMap((live): Growth[] => {
      if (!name.test(live.metadata.name) || live.metadata.deletionTimestamp !== undefined) return [];
      const has = claim.parse(live).spec.resources.requests.storage;
      if (largerQuantity(has, wanted) === has) return [];
      const patch = { spec: { resources: { requests: { storage: wanted } } } };
      return [{ claim: live.metadata.name, patch, from: has, to: wanted }];
    });
  });
}

/**
 * A shared claim as it may be sent where there is one: of its spec only the size can change, and only upwards. Whose data its keys
 * sealed is never forgotten, and from then on it belongs to no resource, so that none takes it along.
 */
export function adjustedClaim(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  if (live === undefined) return wanted;
  const metadata = keptMetadata(wanted, live);
  const has = claim.parse(live).spec;
  const storage = largerQuantity(has.resources.requests.storage, claim.parse(wanted).spec.resources.requests.storage);
  const { accessModes, storageClassName } = has;
  const spec = { accessModes, ...(storageClassName === undefined ? {} : { storageClassName }) };
  return { ...wanted, metadata, spec: { ...spec, resources: { requests: { storage } } } };
}

function keptMetadata({ metadata }: KubeObject, live: KubeObject): KubeObject['metadata'] {
  const wanted = metadata.annotations?.[sealedForAnnotation];
  if (wanted === undefined) return metadata;
  // An operator before this note made it: somebody may have.
  const before = live.metadata.annotations?.[sealedForAnnotation] ?? 'unknown';
  const all = [...new Set([...before.split('\n'), ...wanted.split('\n')])].filter((name) => name !== '');
  const { ownerReferences, ...rest } = metadata;
  const annotations = { ...metadata.annotations, [sealedForAnnotation]: all.join('\n') };
  return { ...rest, annotations, ...(all.length === 0 && ownerReferences !== undefined ? { ownerReferences } : {}) };
}

/** Whether the instances need claims that the templates of the live StatefulSet do not make. */
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
