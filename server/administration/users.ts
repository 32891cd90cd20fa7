import type { Identities } from '../auth/identities/identities.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import { ownerOf } from '../auth/identities/subject.ts';
import type { Principal } from '../auth/principal.ts';
import type { AdminServices } from './services.ts';

interface UserStores {
  readonly identities: Pick<Identities, 'removeUser'>;
  readonly temporary: Pick<TemporaryCredentialsStore, 'revokeAllOf'>;
}

/** Removes a user with service accounts, and then the temporary credentials. */
export async function removeUserAndCredentials({ identities, temporary }: UserStores, name: string): Promise<void> {
  await identities.removeUser(name);
  await temporary.revokeAllOf(ownerOf({ kind: 'user', name }));
}

interface BucketAccess {
  readonly read: boolean;
  readonly write: boolean;
}

/** Reports whether a principal can list or find the bucket, and write objects of any name. */
export async function bucketAccess(
  access: Pick<AdminServices['access'], 'authorize'>,
  principal: Principal,
  bucket: string,
): Promise<BucketAccess> {
  const allowed = async (action: string, resource: string) =>
    (await access.authorize({ principal, action, resource, context: {} })).kind === 'allow';
  return {
    read: (await allowed('s3:ListBucket', bucket)) || (await allowed('s3:GetBucketLocation', bucket)),
    // An object with an empty name: only a resource that covers the whole bucket matches.
    write: await allowed('s3:PutObject', `${bucket}/`),
  };
}
