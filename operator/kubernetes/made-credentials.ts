import type { AccessKey, Secret, User } from '../api/object.ts';
import type { Cache, KubeApi, OwnerReference } from '../kube/kube-api.ts';
import { credentialsSecretName, newCredentials } from '../reconcile/credentials.ts';
import type { ResourceReference } from '../workload.ts';
import { encodeData, secretData } from './certificates/secret-data.ts';
import { madeSecret } from './made-secret.ts';
import { ownedLabels } from './objects/labels.ts';

export interface MadeCredentialsOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: ResourceReference) => OwnerReference | undefined;
}

/**
 * The Secret with the keys of a User or an AccessKey: the one that is there, whoever made it, or one made once. It goes with the
 * resource where what it describes does. Errors with a `KubeError`.
 */
export async function madeCredentials(resource: User | AccessKey, options: MadeCredentialsOptions): Promise<Secret> {
  const { namespace, owner } = options;
  const name = credentialsSecretName(resource);
  const about = { kind: resource.kind, name: resource.metadata.name };
  const kept = await madeSecret(options, namespace, name, () => {
    const reference = resource.spec.deletionPolicy === 'Delete' ? owner(about) : undefined;
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: ownedLabels(about),
        ...(reference === undefined ? {} : { ownerReferences: [reference] }),
      },
      type: 'Opaque',
      data: encodeData(newCredentials(resource)),
    };
  });
  const values = Object.entries(secretData(kept)).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return { name, data: Object.fromEntries(values) };
}
