import type { Identities } from '../auth/identities/identities.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import { ownerOf } from '../auth/identities/subject.ts';
import type { Principal } from '../auth/principal.ts';
import type { AdminServices } from './services.ts';

interface UserStores {
  readonly identities: Pick<Identities, 'removeUser'>;
  readonly temporary: Pick<TemporaryCredentialsStore, 'revokeAllOf'>;
}

/** What the user made goes too: service accounts with the user, temporary credentials after. */
export async function removeUserWithAll({ identities, temporary }: UserStores, name: string): Promise<void> {
  await identities.removeUser(name);
  await temporary.revokeAllOf(ownerOf({ kind: 'user', name }));
}

interface BucketAccess {
  readonly read: boolean;
  readonly write: boolean;
}

/** What a principal may do with a bucket as a whole: find it or what is in it, and put objects at any name. */
export async function accessToBucket(
  access: Pick<AdminServices['access'], 'authorize'>,
  principal: Principal,
  bucket: string,
): Promise<BucketAccess> {
  const allowed = async (action: string, resource: string) =>
    (await access.authorize({ principal, action, resource, context: {} })).kind === 'allow';
  return {
    read: (await allowed('s3:ListBucket', bucket)) || (await allowed('s3:GetBucketLocation', bucket)),
    // An object with no name: only what covers the bucket from its first character fits it.
    write: await allowed('s3:PutObject', `${bucket}/`),
  };
}
