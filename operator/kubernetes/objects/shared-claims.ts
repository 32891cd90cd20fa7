import type { KubeObject } from '../../kube/kube-api.ts';
import type { Workload } from '../../workload.ts';
import { workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { claimSpec, sharedClaimName } from './volumes.ts';

/** Claims that all instances share. They are the resource's own, and go with it, only where it says so. */
export function sharedClaims(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  return workload.mounts.flatMap((mount): readonly KubeObject[] => {
    if (mount.kind !== 'volume' || mount.claim.kind !== 'shared') return [];
    const { ownerReferences, ...metadata } = workloadMeta(
      workload,
      context,
      sharedClaimName(workload.name, mount.name),
    );
    const owned = workload.kubernetes.reclaimPolicy === 'Delete' ? { ownerReferences } : {};
    return [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { ...metadata, ...owned },
        spec: claimSpec(mount, mount.claim),
      },
    ];
  });
}
