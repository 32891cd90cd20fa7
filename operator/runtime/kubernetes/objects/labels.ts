import type { OwnerReference } from '../../../kube-client/kube-api.ts';
import type { Program, ResourceRef, RestartInput } from '../../contract/workload.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

export const managedBy = 'coffer-operator';
/** Selects everything that the operator made. */
export const managedSelector = `app.kubernetes.io/managed-by=${managedBy}`;
export const workloadLabel = 'coffer.dev/workload';
export const ownerKindLabel = 'coffer.dev/owner-kind';
export const ownerLabel = 'coffer.dev/owner';
/** What network policies of users select by: pods that need the same way out have the same value. */
export const networkLabel = 'coffer.dev/network';
/** On Secrets that hold files of a workload, by how they may change: `static`, `reloading`. */
export const contentLabel = 'coffer.dev/content';
/** On the Secret of an authority, and of every certificate that it signed: its name. */
export const authorityLabel = 'coffer.dev/authority';
/** On the Secret of a certificate: its name. */
export const certificateLabel = 'coffer.dev/certificate';
/** On the headless Service, so that one Service of several can be selected. */
export const headlessLabel = 'coffer.dev/headless';

/** The restart inputs of the template, on the StatefulSet, its template and so on every pod. */
export const inputsAnnotation = 'coffer.dev/inputs';
/** Keyed digest of the pod template as it was rendered: an API server fills in what was left out. */
export const templateAnnotation = 'coffer.dev/template';
/** Keyed digest of the object as it was sent last. */
export const appliedAnnotation = 'coffer.dev/applied';
/** On the StatefulSet: revisions of a pod template that somebody changed by hand, with commas between them. */
export const driftedAnnotation = 'coffer.dev/drifted';
/** On pods alone: keyed digest of the files that reload, as they were when the pod was last told of them. */
export const filesAnnotation = 'coffer.dev/files';

/** On the claim of keys: who may have sealed data with them, by lines. Without it nothing is known, with nothing in it nobody did. */
export const sealedForAnnotation = 'coffer.dev/sealed-for';

type Component = 'server' | 'key-service' | 'provider-check';

export function componentOf(program: Program): Component {
  return program === 'keysvc' ? 'key-service' : 'server';
}

/** Labels of everything that is made for a resource. Those of the resource itself are never among them: Argo CD tracks by labels. */
export function ownedLabels(owner: ResourceRef, component?: Component): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/managed-by': managedBy,
    'app.kubernetes.io/name': 'coffer',
    ...(component === undefined ? {} : { 'app.kubernetes.io/component': component }),
    [ownerKindLabel]: owner.kind,
    [ownerLabel]: owner.name,
  };
}

export function workloadLabels(workload: {
  readonly name: string;
  readonly owner: ResourceRef;
  readonly program: Program;
}): Readonly<Record<string, string>> {
  return { ...ownedLabels(workload.owner, componentOf(workload.program)), [workloadLabel]: workload.name };
}

/** What a StatefulSet and its Services find the pods by. It can never change: it is part of what Kubernetes keeps immutable. */
export function podSelector(workload: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/managed-by': managedBy, [workloadLabel]: workload };
}

/** The metadata that every object of a workload has. */
export function workloadMeta(
  workload: { readonly name: string; readonly owner: ResourceRef; readonly program: Program },
  context: { readonly namespace: string; readonly owner: OwnerReference },
  name: string,
) {
  return {
    name,
    namespace: context.namespace,
    labels: workloadLabels(workload),
    ownerReferences: [context.owner],
  };
}

/** Annotations of an object may have 256 KiB in all; a person reads what is short. */
const readableBytes = 16 * 1024;
const compressed = 'gzip:';
/** What nobody wrote by accident: a small text can decompress to gigabytes. */
const largestBytes = 4 * 1024 * 1024;

/** Fields are looked at loosely: an older or newer operator wrote them. */
const inputs = z.array(
  z.object({
    reason: z.string(),
    field: z.string(),
    of: z.object({ kind: z.string(), name: z.string() }),
    fingerprint: z.string(),
    shown: z.string().optional(),
    named: z.literal(true).optional(),
  }),
);

export function writeInputs(list: readonly RestartInput[]): string {
  const text = JSON.stringify(list);
  if (text.length <= readableBytes) return text;
  return compressed + gzipSync(text, { level: 9 }).toString('base64');
}

/** Undefined where the annotation is missing or nobody can read it: then every input counts as new. */
export function readInputs(annotation: string | undefined): readonly RestartInput[] | undefined {
  if (annotation === undefined) return undefined;
  try {
    const text = annotation.startsWith(compressed)
      ? gunzipSync(Buffer.from(annotation.slice(compressed.length), 'base64'), {
          maxOutputLength: largestBytes,
        }).toString('utf8')
      : annotation;
    return inputs.parse(JSON.parse(text)) as readonly RestartInput[];
  } catch {
    return undefined;
  }
}
