import type { Identities } from '../identities/identities.ts';
import type { TemporaryCredentialsStore } from '../access/temporary-credentials.ts';
import { ownerOf } from '../identities/subject.ts';

export interface UserStores {
  readonly identities: Pick<Identities, 'removeUser'>;
  readonly temporary: Pick<TemporaryCredentialsStore, 'revokeAllOf'>;
}

/** What the user made goes too: service accounts with the user, temporary credentials after. */
export async function removeUserWithAll({ identities, temporary }: UserStores, name: string): Promise<void> {
  await identities.removeUser(name);
  await temporary.revokeAllOf(ownerOf({ kind: 'user', name }));
}
