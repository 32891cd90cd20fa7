import { KubeError, type Cache, type KubeApi, type KubeObject } from '../../../kube-client/kube-api.ts';
import { canonical } from '../../../render/restart-inputs.ts';
import { mountedKeys } from './live-workload.ts';
import { filesAnnotation } from '../objects/labels.ts';
import { podView } from './instance-state.ts';

interface PodFilesOptions {
  readonly api: KubeApi;
  readonly pods: Cache;
  readonly namespace: string;
  /** Returns a keyed digest, since more users may read a pod than its Secrets. */
  readonly fingerprint: (value: string) => string;
  readonly log: RuntimeLog;
}

/**
 * Annotates the running pods of a workload with a keyed digest of the reloading files that they mount. A kubelet checks the volumes of a
 * pod about once a minute, and at once when the pod itself changes. The annotation is not a part of the template and restarts nothing. A
 * failure is logged, and the next reconcile tries again: without the annotation files only arrive later.
 */
export async function annotatePods(workload: string, secret: KubeObject, options: PodFilesOptions): Promise<void> {
  const { api, pods, namespace, log } = options;
  for (const pod of pods.ofWorkload(namespace, workload)) {
    const digest = mountedDigest(pod, secret, options.fingerprint);
    if (digest === undefined || pod.metadata.annotations?.[filesAnnotation] === digest) continue;
    const { name } = pod.metadata;
    try {
      const patch = { metadata: { annotations: { [filesAnnotation]: digest } } };
      pods.wrote(await api.patch(pods.type, namespace, name, patch));
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status !== 404)
        log.warn({ err: error, namespace, pod: name }, 'a pod was not told of its changed files');
    }
  }
}

/** Returns undefined for a pod that needs no annotation: it terminates, does not run yet, or mounts none of the files. */
function mountedDigest(
  pod: KubeObject,
  secret: KubeObject,
  fingerprint: (value: string) => string,
): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || podView(pod).status.phase !== 'Running') return undefined;
  const keys = mountedKeys([pod['spec']]).get(secret.metadata.name);
  if (keys === undefined) return undefined;
  // Only the files of this pod count, so that files of other pods do not change its digest.
  const mounted = Object.entries(secret['data'] as Readonly<Record<string, string>>).filter(([key]) => keys.has(key));
  return fingerprint(canonical(Object.fromEntries(mounted)));
}

/** The log of the operator. A logger of pino fits. */
export interface RuntimeLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}
