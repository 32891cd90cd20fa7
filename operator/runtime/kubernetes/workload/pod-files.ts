import { KubeError, type Cache, type KubeApi, type KubeObject } from '../../../kube-client/kube-api.ts';
import { canonical } from '../../../render/restart-inputs.ts';
import type { RuntimeLog } from './kubernetes-runtime.ts';
import { mountedKeys } from './live-workload.ts';
import { filesAnnotation } from '../objects/labels.ts';
import { podView } from './instance-state.ts';

interface PodFilesOptions {
  readonly api: KubeApi;
  readonly pods: Cache;
  readonly namespace: string;
  /** Keyed: more people may read a pod than the Secrets it mounts. */
  readonly fingerprint: (value: string) => string;
  readonly log: RuntimeLog;
}

/**
 * Tells the running pods of a workload of what their Secret of files that reload holds now: a kubelet looks at the volumes of a pod
 * about once a minute, and at once when the pod itself changes. So each pod is annotated with a keyed digest of the files that it
 * mounts; the annotation is no part of the template, and restarts nothing. What fails is logged, and tried again by the next pass:
 * without it files are merely later.
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

/** Undefined for a pod that has no use for it: one that is ending, does not run yet, or mounts none of the files. */
function mountedDigest(
  pod: KubeObject,
  secret: KubeObject,
  fingerprint: (value: string) => string,
): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || podView(pod).status.phase !== 'Running') return undefined;
  const keys = mountedKeys([pod['spec']]).get(secret.metadata.name);
  if (keys === undefined) return undefined;
  // What other pods mount beside that must not make this one look changed.
  const mounted = Object.entries(secret['data'] as Readonly<Record<string, string>>).filter(([key]) => keys.has(key));
  return fingerprint(canonical(Object.fromEntries(mounted)));
}
