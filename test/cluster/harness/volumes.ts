import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../harness/run-command.ts';
import type { KubernetesObject, Kubectl } from './kubectl.ts';

const provisioner = 'test.coffer.dev/host-path';

/**
 * Makes a volume in a folder of this machine for every claim: the dynamic provisioner that the cluster lacks. Returns how to stop it.
 * The storage class is the cluster's default.
 */
export async function provisionVolumes(kubectl: Kubectl, folder: string): Promise<() => Promise<void>> {
  await kubectl.apply({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'host-path', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner,
    allowVolumeExpansion: true,
    reclaimPolicy: 'Delete',
  });
  const made = new Set<string>();
  const stopped = new AbortController();
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      // A cluster that is busy answers in the next round.
      const answer = await kubectl.attempt(['get', 'persistentvolumeclaims', '--all-namespaces', '--output', 'json']);
      const claims = answer.code === 0 ? (JSON.parse(answer.stdout) as { items: KubernetesObject[] }).items : [];
      for (const claim of claims) {
        const name = `pvc-${claim.metadata.uid}`;
        const spec = claim.spec ?? {};
        if (spec['storageClassName'] !== 'host-path' || spec['volumeName'] !== undefined || made.has(name)) continue;
        made.add(name);
        await mkdir(join(folder, name), { recursive: true });
        // hostPath volumes know no fsGroup: the folder belongs to whom the programs run as.
        await runCommand('chown', ['65532:65532', join(folder, name)]);
        await kubectl.apply(volume(name, claim, join(folder, name)));
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 500);
      });
    }
  })();
  return async () => {
    stopped.abort();
    await loop;
  };
}

function volume(name: string, claim: KubernetesObject, path: string): object {
  const spec = claim.spec as { accessModes: string[]; resources: { requests: { storage: string } } };
  const { namespace, uid } = claim.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      capacity: { storage: spec.resources.requests.storage },
      accessModes: spec.accessModes,
      storageClassName: 'host-path',
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: claim.metadata.name, namespace, uid },
    },
  };
}
