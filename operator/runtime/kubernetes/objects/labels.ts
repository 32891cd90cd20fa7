import type { OwnerReference } from '../../../kube-client/kube-api.ts';
import type { Program, ResourceRef, RestartInput } from '../../../contract/workload.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

export const managedBy = 'coffer-operator';
/** Selects every object of the operator. */
export const managedSelector = `app.kubernetes.io/managed-by=${managedBy}`;
export const workloadLabel = 'coffer.dev/workload';
export const ownerKindLabel = 'coffer.dev/owner-kind';
export const ownerLabel = 'coffer.dev/owner';
/** The label by which network policies of users select pods with the same needs. */
export const networkLabel = 'coffer.dev/network';
/** On Secrets with files of a workload: `static` or `reloading`. */
export const contentLabel = 'coffer.dev/content';
/** On the Secret of an authority, and of every certificate that it signed: the name of the authority. */
export const authorityLabel = 'coffer.dev/authority';
/** On the Secret of a certificate: the name of the certificate. */
export const certificateLabel = 'coffer.dev/certificate';
/** On the headless Service, so that a selector finds it among several Services. */
export const headlessLabel = 'coffer.dev/headless';

/** The restart inputs of the template: on the StatefulSet, its template and so on every pod. */
export const inputsAnnotation = 'coffer.dev/inputs';
/** Keyed digest of the rendered pod template. The API server fills in defaults, so the template itself cannot be compared. */
export const templateAnnotation = 'coffer.dev/template';
/** Keyed digest of the last sent object. */
export const appliedAnnotation = 'coffer.dev/applied';
/** On the StatefulSet: revisions of a manually changed pod template, separated by commas. */
export const driftedAnnotation = 'coffer.dev/drifted';
/**
 * On the StatefulSet: paths of the pod template that the cluster changed in what was sent, separated by commas. They tell an operator that starts
 * what no person changed.
 */
export const admittedAnnotation = 'coffer.dev/admitted';
/** On pods only: keyed digest of the reloading files at the last update of the annotation. */
export const filesAnnotation = 'coffer.dev/files';

/**
 * On the claim of keys: tenants that may have encrypted data with them, one on each line. Empty means none; a missing annotation means
 * unknown.
 */
export const sealedForAnnotation = 'coffer.dev/sealed-for';

/** On the claim of a server's data: the ID of the deployment whose store it holds. */
export const deploymentAnnotation = 'coffer.dev/deployment';

/** On the claim of a server's data: its own UID, where the StatefulSet made it. A claim that a restore made has another one. */
export const madeAnnotation = 'coffer.dev/made';

export const componentLabel = 'app.kubernetes.io/component';
/** Components of pods that check something and end. */
export const checkComponents = ['provider-check', 'keystore-check'] as const;

type Component = 'server' | 'key-service' | (typeof checkComponents)[number];

export function componentOf(program: Program): Component {
  return program === 'keysvc' ? 'key-service' : 'server';
}

/**
 * Returns the labels of every object of a resource. It does not copy labels of the resource itself, since Argo CD tracks objects by labels.
 */
export function ownedLabels(owner: ResourceRef, component?: Component): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/managed-by': managedBy,
    'app.kubernetes.io/name': 'coffer',
    ...(component === undefined ? {} : { [componentLabel]: component }),
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

/** Returns the selector of the pods. It can never change, since Kubernetes keeps it immutable. */
export function podSelector(workload: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/managed-by': managedBy, [workloadLabel]: workload };
}

/** Returns the metadata of an object of a workload. */
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

/** Bytes up to which the annotation stays readable. All annotations of an object may have 256 KiB. */
const readableBytes = 16 * 1024;
const compressed = 'gzip:';
/** Bytes; a small text can decompress to gigabytes. */
const largestBytes = 4 * 1024 * 1024;

/** The schema is loose, since an older or newer operator may have written the inputs. */
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

/** Returns undefined when the annotation is missing or unreadable; then every input counts as new. */
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
