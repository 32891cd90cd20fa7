import type { KubeObject } from '../../kube/kube-api.ts';
import type { Workload } from '../../workload.ts';
import { sealedForAnnotation, workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { claimSpec, sharedClaimName } from './volumes.ts';

/**
 * Claims that all instances share: of keys. They are the resource's own, and go with it, only where it says so and nothing was ever
 * sealed with what is on them.
 */
export function sharedClaims(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  return workload.mounts.flatMap((mount): readonly KubeObject[] => {
    if (mount.kind !== 'volume' || mount.claim.kind !== 'shared') return [];
    const { ownerReferences, ...metadata } = workloadMeta(
      workload,
      context,
      sharedClaimName(workload.name, mount.name),
    );
    const { sealedFor } = mount.claim;
    const isUnused = sealedFor?.length === 0;
    const owned = workload.kubernetes.reclaimPolicy === 'Delete' && isUnused ? { ownerReferences } : {};
    const annotations = sealedFor === undefined ? {} : { annotations: { [sealedForAnnotation]: sealedFor.join('\n') } };
    return [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { ...metadata, ...annotations, ...owned },
        spec: claimSpec(mount, mount.claim),
      },
    ];
  });
}
