import type { Json, Mount, Workload } from '../../../contract/workload.ts';
import { workloadLabels, sealedForAnnotation, workloadMeta } from './labels.ts';
import { fileKey, type FileSecretNames, mountFolder, type ObjectContext } from './object-context.ts';
import type { KubeObject } from '../../../kube-client/kube-api.ts';

type VolumeMount = Extract<Mount, { kind: 'volume' }>;
type FilesMount = Extract<Mount, { kind: 'files' }>;

/** The size for resources from before the size was required. */
const standardSize = '10Gi';

/**
 * Read by user and group: files of a Secret volume belong to root, and another user reads them only by the pod's group (`fsGroup`), so 0400
 * would lock it out.
 */
const fileMode = 0o440;

/**
 * A token for the API server that ends within the hour and with the pod, at the path that clients expect. Kubernetes renews it.
 *
 * @see https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken
 */
const accountToken: Readonly<Record<string, Json>> & { readonly name: string } = {
  name: 'account-token',
  projected: {
    defaultMode: fileMode,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3_607 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
  },
};

export function volumesOf(workload: Workload, secrets: FileSecretNames): readonly Json[] {
  return [
    ...workload.mounts.flatMap((mount) =>
      mount.kind === 'files' ? [projected(mount, secrets)] : claimed(mount, workload.name),
    ),
    ...(workload.kubernetes.pod.serviceAccountToken === true ? [accountToken] : []),
    { name: 'tmp', emptyDir: {} },
  ];
}

export function volumeMountsOf(workload: Workload): readonly Json[] {
  return [
    ...workload.mounts.map((mount) => ({
      name: mount.name,
      mountPath: mountFolder(mount),
      ...(mount.kind === 'files' ? { readOnly: true } : {}),
    })),
    ...(workload.kubernetes.pod.serviceAccountToken === true
      ? [{ name: accountToken.name, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }]
      : []),
    { name: 'tmp', mountPath: '/tmp' },
  ];
}

/** Makes the claims that the StatefulSet creates for each of its pods. */
export function claimTemplates(workload: Workload): readonly Json[] {
  return workload.mounts.flatMap((mount) =>
    mount.kind === 'volume' && mount.claim.kind === 'each'
      ? [{ metadata: { name: mount.name, labels: workloadLabels(workload) }, spec: claimSpec(mount, mount.claim) }]
      : [],
  );
}

function claimSpec(
  mount: VolumeMount,
  claim: Exclude<VolumeMount['claim'], { kind: 'existing' }>,
): Readonly<Record<string, Json>> {
  return {
    accessModes: [claim.accessMode],
    ...(claim.storageClassName === undefined ? {} : { storageClassName: claim.storageClassName }),
    resources: { requests: { storage: sizeOf(mount) } },
  };
}

export function sizeOf({ size = standardSize }: VolumeMount): string {
  return size;
}

export function sharedClaimName(workload: string, mount: string): string {
  return `${workload}-${mount}`;
}

/** Names the claim that the StatefulSet makes for a mount of its first pod. */
export function firstClaimName(workload: string, mount: string): string {
  return `${mount}-${workload}-0`;
}

/** The volumes of the template do not list the claims that the StatefulSet creates. */
function claimed(mount: VolumeMount, workload: string): readonly Json[] {
  switch (mount.claim.kind) {
    case 'each':
      return [];
    case 'shared':
      return [{ name: mount.name, persistentVolumeClaim: { claimName: sharedClaimName(workload, mount.name) } }];
    case 'existing':
      return [{ name: mount.name, persistentVolumeClaim: { claimName: mount.claim.claimName } }];
    default:
      return mount.claim satisfies never;
  }
}

function projected(mount: FilesMount, secrets: FileSecretNames): Json {
  const source = (name: string | undefined, reloads: boolean) => {
    const items = mount.files
      .filter((file) => file.reloads === reloads)
      .map(({ path }) => ({ key: fileKey(mount.name, path), path }));
    return name === undefined || items.length === 0 ? [] : [{ secret: { name, items } }];
  };
  return {
    name: mount.name,
    projected: {
      defaultMode: fileMode,
      sources: [...source(secrets.fixed, false), ...source(secrets.reloading, true)],
    },
  };
}

/**
 * Makes the claims that all instances share: those of keys. The resource owns them only when its spec says so and no data was ever
 * encrypted with the keys on them.
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
