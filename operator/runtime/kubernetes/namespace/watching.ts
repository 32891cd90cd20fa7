import { usesOf } from '../../../contract/secret.ts';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { resourceKinds, type ResourceRef } from '../../../contract/workload.ts';
import { ownerKindLabel, ownerLabel, workloadLabel } from '../objects/labels.ts';

const ownerKinds: readonly string[] = resourceKinds;

/** Returns the resource that an object was made for, by its labels; undefined for an object of another owner. */
export function ownerOf(object: KubeObject | undefined): ResourceRef | undefined {
  const kind = object?.metadata.labels?.[ownerKindLabel];
  const name = object?.metadata.labels?.[ownerLabel];
  if (kind === undefined || name === undefined || !ownerKinds.includes(kind)) return undefined;
  return { kind: kind as ResourceRef['kind'], name };
}

/**
 * Returns the resources that an object was made for when it is not a part of a workload: credentials, accepted providers. The runtime reports
 * parts of workloads itself. The labels before and after count, so that removed labels are restored.
 */
export function ownersToNotify(before: KubeObject | undefined, after: KubeObject | undefined): readonly ResourceRef[] {
  const owners = new Map<string, ResourceRef>();
  for (const object of [before, after]) {
    const owner = ownerOf(object);
    if (owner === undefined || object?.metadata.labels?.[workloadLabel] !== undefined) continue;
    owners.set(`${owner.kind}/${owner.name}`, owner);
  }
  return [...owners.values()];
}

/** Reports whether the data of a Secret or ConfigMap changed, or the allowed uses of a Secret. Other labels do not count. */
export function isContentChange(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return !isDeepStrictEqual([before?.['data'], usesIn(before)], [after?.['data'], usesIn(after)]);
}

function usesIn(object: KubeObject | undefined): ReadonlySet<string> | undefined {
  if (object?.kind !== 'Secret') return undefined;
  return usesOf({ labels: object.metadata.labels, type: object['type'] as string | undefined });
}
