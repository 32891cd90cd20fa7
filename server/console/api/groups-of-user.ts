import { noSuchGroup } from '../../identities/change-groups.ts';
import type { Identities } from '../../identities/identities.ts';

type Groups = Pick<Identities, 'group' | 'groupsOf' | 'addMembers' | 'removeMembers'>;

/** Rejects where one of them is not there: adding members would make it, under a name that was mistyped. */
export async function existingGroups(identities: Pick<Groups, 'group'>, names: readonly string[]): Promise<void> {
  for (const name of names) if ((await identities.group(name)) === undefined) noSuchGroup(name);
}

/** The user is a member of exactly these from now on. */
export async function setGroupsOf(identities: Groups, user: string, wanted: readonly string[]): Promise<void> {
  const now = (await identities.groupsOf(user)).map(({ name }) => name);
  for (const name of wanted) if (!now.includes(name)) await identities.addMembers(name, [user]);
  for (const name of now) if (!wanted.includes(name)) await identities.removeMembers(name, [user]);
}
