import type { AccessKey, Secret, User } from '../api/object.ts';
import { credentialsSecretName, newCredentials } from '../reconcile/credentials.ts';
import { madeCredentialsSecret, type MadeCredentialsOptions } from './made-credentials-secret.ts';

/**
 * The Secret with the keys of a User or an AccessKey: the one that is there, whoever made it, or one made once. It goes with the
 * resource where what it describes does. Errors with a `KubeError`.
 */
export function madeCredentials(resource: User | AccessKey, options: MadeCredentialsOptions): Promise<Secret> {
  return madeCredentialsSecret(
    {
      name: credentialsSecretName(resource),
      about: { kind: resource.kind, name: resource.metadata.name },
      use: 'access-key',
      goesWithIt: resource.spec.deletionPolicy === 'Delete',
      make: () => newCredentials(resource),
    },
    options,
  );
}
