import type { IdentityReader } from '../auth/identities/identities.ts';
import { optionalField } from './optional-field.ts';

type Reader = Pick<IdentityReader, 'attached' | 'attachments' | 'groupsOf' | 'user'>;

interface EntitiesQuery {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly policies: readonly string[];
  readonly now: Date;
}

/** Lists the policies of users and groups, and the holders of policies: of all policies if the query names nothing. */
export async function policyEntities(identities: Reader, { users, groups, policies, now }: EntitiesQuery) {
  const everything = users.length === 0 && groups.length === 0 && policies.length === 0;
  const userMappings = (await inOrder(users, (name) => ofUser(identities, name))).filter((one) => one !== undefined);
  const groupMappings = (await inOrder(groups, (name) => ofGroup(identities, name))).filter(hasPolicies);
  const policyMappings = everything || policies.length > 0 ? await ofPolicies(identities, policies) : [];
  return {
    timestamp: now.toISOString(),
    ...listed('userMappings', userMappings),
    ...listed('groupMappings', groupMappings),
    ...listed('policyMappings', policyMappings),
  };
}

/** Leaves out users without policies of their own or of groups. */
async function ofUser(identities: Reader, user: string) {
  if ((await identities.user(user)) === undefined) return undefined;
  const policies = await identities.attached({ kind: 'user', name: user });
  const groups = (await identities.groupsOf(user)).map(({ name }) => name).toSorted();
  const memberOf = (await inOrder(groups, (name) => ofGroup(identities, name))).filter(hasPolicies);
  if (policies.length === 0 && memberOf.length === 0) return undefined;
  return { user, policies, ...listed('memberOfMappings', memberOf) };
}

async function ofGroup(identities: Reader, group: string) {
  return { group, policies: await identities.attached({ kind: 'group', name: group }) };
}

function hasPolicies({ policies }: { readonly policies: readonly string[] }): boolean {
  return policies.length > 0;
}

async function ofPolicies(identities: Reader, names: readonly string[]) {
  const holders = new Map<string, { readonly users: string[]; readonly groups: string[] }>();
  for await (const { target, policies } of identities.attachments()) {
    if (target.kind !== 'user' && target.kind !== 'group') continue;
    for (const policy of policies) {
      if (names.length > 0 && !names.includes(policy)) continue;
      const known = holders.get(policy) ?? { users: [], groups: [] };
      holders.set(policy, known);
      (target.kind === 'user' ? known.users : known.groups).push(target.name);
    }
  }
  return [...holders]
    .map(([policy, { users, groups }]) => ({ policy, users: orNull(users), groups: orNull(groups) }))
    .toSorted((a, b) => (a.policy < b.policy ? -1 : 1));
}

/** Clients distinguish null from an empty list. */
function orNull(names: readonly string[]): readonly string[] | null {
  return names.length === 0 ? null : names;
}

function listed<Name extends string>(name: Name, values: readonly object[]) {
  return optionalField(name, values.length === 0 ? undefined : values);
}

async function inOrder<T>(names: readonly string[], load: (name: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (const name of names) found.push(await load(name));
  return found;
}

type LdapReader = Pick<IdentityReader, 'attached' | 'attachments'>;

/** Like `policyEntities`, for directory users and groups by normalized DN. */
export async function ldapPolicyEntities(identities: LdapReader, { users, groups, policies, now }: EntitiesQuery) {
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

/** Leaves out names without policies. */
async function mappings<T extends { readonly policies: readonly string[] }>(
  names: readonly string[],
  load: (name: string) => Promise<T>,
): Promise<T[]> {
  return (await Promise.all(names.map(load))).filter(({ policies }) => policies.length > 0);
}

async function byPolicy(identities: LdapReader, names: readonly string[]) {
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

/** Clients distinguish null from an empty list. */
