import type { OwnerReference } from '../../kube/kube-api.ts';
import type { Text } from '../../workload.ts';
import type { FileSecretNames } from './file-secrets.ts';

/** What the objects of a workload are made with, beside the workload itself. */
export interface ObjectContext {
  readonly namespace: string;
  readonly owner: OwnerReference;
  /** Image of workloads that name none. */
  readonly defaultImage: string;
  readonly operatorNamespace: string | undefined;
  /** Text with its symbols resolved. */
  readonly resolve: (text: Text) => string;
  /** The value of a key of a Secret that the workload names. Errors where there is none. */
  readonly secret: (name: string, key: string) => string;
  readonly files: FileSecretNames;
  /** Keyed digest. */
  readonly fingerprint: (value: string) => string;
}

/** The folder of a mount inside the container. */
export function mountFolder(mount: { readonly kind: 'volume' | 'files'; readonly name: string }): string {
  return mount.kind === 'volume' ? `/var/lib/coffer/${mount.name}` : `/etc/coffer/${mount.name}`;
}
