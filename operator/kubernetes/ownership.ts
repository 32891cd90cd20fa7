import type { KubeObject } from '../kube/kube-api.ts';
import {
  authorityLabel,
  certificateLabel,
  managedBy,
  ownerKindLabel,
  ownerLabel,
  workloadLabel,
} from './objects/labels.ts';

/** What says for whom an object was made. */
const identifying = [workloadLabel, ownerKindLabel, ownerLabel, authorityLabel, certificateLabel] as const;

/** Whose a live object is that has the name of one that the operator wants to write. */
export type Ownership =
  | { readonly kind: 'ours' }
  /** Of a resource of the same name that was deleted: the garbage collector takes it in a moment. */
  | { readonly kind: 'leftover' }
  | { readonly kind: 'foreign'; readonly message: string };

export function ownershipOf(live: KubeObject, wanted: KubeObject): Ownership {
  const holder = controllerOf(live);
  const owner = controllerOf(wanted);
  if (holder !== undefined && owner !== undefined && holder.uid !== owner.uid) {
    if (holder.kind === owner.kind && holder.name === owner.name) return { kind: 'leftover' };
    return foreign(live, `belongs to ${holder.kind} ${holder.name}`);
  }
  // What is kept beyond its resource has no owner, and is known by its labels alone.
  if (holder === undefined && !hasOurLabels(live, wanted)) return foreign(live, 'was not made by the operator');
  return live.metadata.deletionTimestamp === undefined ? { kind: 'ours' } : { kind: 'leftover' };
}

function hasOurLabels(live: KubeObject, wanted: KubeObject): boolean {
  const labels = live.metadata.labels ?? {};
  return (
    labels['app.kubernetes.io/managed-by'] === managedBy &&
    identifying.every((label) => labels[label] === wanted.metadata.labels?.[label])
  );
}

function controllerOf({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

function foreign(live: KubeObject, why: string): Ownership {
  const message =
    `${live.kind} ${live.metadata.name} ${why}, and is not taken over: ` +
    'give one of the two another name, or delete it if nothing needs it';
  return { kind: 'foreign', message };
}
