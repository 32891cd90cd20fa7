import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Workload } from '../../../contract/workload.ts';
import { componentOf, networkLabel, ownedLabels } from '../objects/labels.ts';
import { fileKey, type ObjectContext, type ResolvedFile } from '../objects/object-context.ts';
import { checkPodSpec } from '../objects/pod-template.ts';

/** Milliseconds from the creation of the pod to its end: the node may have to pull the image first, and a keystore may be slow. */
export const checkTimeoutMs = 120_000;

/**
 * Makes the Secret with the files of a workload, and a pod that runs its program once with the arguments of a check: as an instance would
 * run, but outside of its Services.
 */
export function workloadCheckObjects(
  workload: Workload,
  files: readonly ResolvedFile[],
  name: string,
  context: Omit<ObjectContext, 'files'>,
): { readonly secret: KubeObject; readonly pod: KubeObject } {
  const { namespace, owner } = context;
  const labels = ownedLabels(workload.owner, 'keystore-check');
  const metadata = { name, namespace, labels, ownerReferences: [owner] };
  const data = Object.fromEntries(
    files.map(({ mount, path, content }) => [fileKey(mount, path), Buffer.from(content, 'utf8').toString('base64')]),
  );
  const { pod } = workload.kubernetes;
  return {
    secret: { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true, data },
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      // A network policy that lets the instances out lets the check out, too.
      metadata: {
        ...metadata,
        labels: { ...pod.labels, ...labels, [networkLabel]: componentOf(workload.program) },
        annotations: pod.annotations,
      },
      spec: {
        ...checkPodSpec(workload, { ...context, files: { fixed: name, reloading: name } }),
        activeDeadlineSeconds: Math.ceil(checkTimeoutMs / 1_000),
      },
    },
  };
}
