import type { IdentityReader } from '../identities/identities.ts';
import { optionalField } from './optional-field.ts';
import type { EntitiesQuery } from './policy-entities.ts';

type Reader = Pick<IdentityReader, 'attached' | 'attachments'>;

/** As `policyEntities`, of the people and groups of a directory: DNs, normalized. */
export async function ldapPolicyEntities(identities: Reader, { users, groups, policies, now }: EntitiesQuery) {
  const everything = users.length === 0 && groups.length === 0 && policies.length === 0;
  const userMappings = await mappings(users, async (user) => ({
    user,
    policies: await identities.attached({ kind: 'ldap-user', name: user }),
  }));
  const groupMappings = await mappings(groups, async (group) => ({
    group,
    policies: await identities.attached({ kind: 'ldap-group', name: group }),
  }));
  const policyMappings = everything || policies.length > 0 ? await byPolicy(identities, policies) : [];
  return {
    timestamp: now.toISOString(),
    ...optionalField('userMappings', userMappings.length === 0 ? undefined : userMappings),
    ...optionalField('groupMappings', groupMappings.length === 0 ? undefined : groupMappings),
    ...optionalField('policyMappings', policyMappings.length === 0 ? undefined : policyMappings),
  };
}

/** Those with nothing attached are left out. */
async function mappings<T extends { readonly policies: readonly string[] }>(
  names: readonly string[],
  load: (name: string) => Promise<T>,
): Promise<T[]> {
  return (await Promise.all(names.map(load))).filter(({ policies }) => policies.length > 0);
}

async function byPolicy(identities: Reader, names: readonly string[]) {
  const holders = new Map<string, { readonly users: string[]; readonly groups: string[] }>();
  for (const kind of ['ldap-user', 'ldap-group'] as const) {
    for await (const { target, policies } of identities.attachments(kind)) {
      if (target.kind !== kind) continue;
      for (const policy of policies.filter((name) => names.length === 0 || names.includes(name))) {
        const known = holders.get(policy) ?? { users: [], groups: [] };
        holders.set(policy, known);
        (kind === 'ldap-user' ? known.users : known.groups).push(target.name);
      }
    }
  }
  return [...holders]
    .map(([policy, { users, groups }]) => ({ policy, users: orNull(users), groups: orNull(groups) }))
    .toSorted((a, b) => (a.policy < b.policy ? -1 : 1));
}

/** Clients tell an empty list from none. */
function orNull(names: readonly string[]): readonly string[] | null {
  return names.length === 0 ? null : names;
}
