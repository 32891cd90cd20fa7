import { normalizeDn } from '../federation/ldap/distinguished-name.ts';
import type { FederatedSubject, Subject } from '../auth/identities/subject.ts';
import { keysOf, listTypeOf } from './access-key-views.ts';
import { adminPath, type AdminAnswer, type AdminCall, type Route, sealed } from './call.ts';
import { AdminError } from '../administration/admin-error.ts';
import { callerSubject } from '../administration/caller.ts';

/** Access keys of people whom a provider or a directory knows: `mc idp openid|ldap accesskey ls`. */
export const federatedAccessKeyRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: adminPath('idp/openid/list-access-keys-bulk'),
    action: 'admin:ListServiceAccounts',
    own: true,
    serve: listOpenId,
  },
  {
    method: 'GET',
    path: adminPath('idp/ldap/list-access-keys-bulk'),
    action: 'admin:ListServiceAccounts',
    own: true,
    serve: async (call) => sealed(Object.fromEntries(await listLdap(call, namesOf(call, 'userDNs')))),
  },
  {
    method: 'GET',
    path: adminPath('idp/ldap/list-access-keys'),
    action: 'admin:ListServiceAccounts',
    own: true,
    async serve(call) {
      const [[, keys] = []] = await listLdap(call, namesOf(call, 'userDN'));
      return sealed(keys ?? { serviceAccounts: null, stsKeys: null });
    },
  },
];

interface ListedPerson {
  readonly minioAccessKey: string;
  readonly ID: string;
  readonly readableName: string;
}

/** By configuration; of one alone where the query names it. */
async function listOpenId(call: AdminCall): Promise<AdminAnswer> {
  const listed = listTypeOf(call);
  const only = call.query.get('allConfigs') === 'true' ? '' : (call.query.get('configName') ?? '');
  const people = await askedFor(call, 'openid', namesOf(call, 'users'));
  const configurations = new Map<string, ListedPerson[]>();
  for (const { provider, parent, subjectId, displayName } of people) {
    if (only !== '' && provider !== only) continue;
    const keys = await keysOf(call, parent, listed);
    if (keys === undefined) continue;
    const users = configurations.get(provider) ?? [];
    users.push({ minioAccessKey: parent, ID: subjectId ?? '', readableName: displayName, ...keys });
    configurations.set(provider, users);
  }
  return sealed([...configurations].map(([configName, users]) => ({ configName, users })));
}

/** By DN. */
async function listLdap(call: AdminCall, names: readonly string[]): Promise<readonly (readonly [string, object])[]> {
  const listed = listTypeOf(call);
  const found: (readonly [string, object])[] = [];
  for (const { parent } of await askedFor(call, 'ldap', names)) {
    const keys = await keysOf(call, parent, listed);
    if (keys !== undefined) found.push([parent, keys]);
  }
  return found;
}

/** Everybody of the source who has any, those of them whom the query names, or the caller. */
async function askedFor(
  call: AdminCall,
  source: 'openid' | 'ldap',
  names: readonly string[],
): Promise<readonly FederatedSubject[]> {
  const everybody = call.query.get('all') === 'true';
  if (everybody && names.length > 0) {
    throw new AdminError('XCofferInvalidRequest', 'Ask either for users by name or for all.');
  }
  const caller = callerSubject(call.principal);
  const own = isOf(caller, source) ? caller : undefined;
  if (!everybody && names.length === 0) {
    if (own !== undefined) return [own];
    throw new AdminError(
      'XCofferInvalidRequest',
      'You are nobody of this provider: ask for users by name, or for all by all=true.',
    );
  }
  if (everybody || own === undefined || names.some((name) => !isCalled(own, name))) {
    await call.require('admin:ListServiceAccounts');
  }
  const people = new Map<string, FederatedSubject>();
  for await (const subject of subjectsOf(call, source)) {
    const asked = everybody || names.some((name) => isCalled(subject, name));
    if (asked && !people.has(subject.parent)) people.set(subject.parent, subject);
  }
  return [...people.values()];
}

async function* subjectsOf({ services }: AdminCall, source: 'openid' | 'ldap'): AsyncIterable<FederatedSubject> {
  for await (const owner of services.temporary.owners()) {
    for await (const { principal } of services.temporary.ofOwner(owner)) {
      if (isOf(principal.subject, source)) yield principal.subject;
      // All of an owner are of one person.
      break;
    }
  }
  for await (const { subject } of services.identities.serviceAccounts()) if (isOf(subject, source)) yield subject;
}

function isOf(subject: Subject, source: 'openid' | 'ldap'): subject is FederatedSubject {
  return subject.kind === 'federated' && subject.source === source;
}

/** By what things of theirs are found, by what the provider calls them, or by what people do; DNs in any spelling. */
function isCalled({ parent, subjectId, displayName }: FederatedSubject, name: string): boolean {
  return [parent, subjectId, displayName].includes(name) || normalizeDn(name) === parent;
}

function namesOf({ query }: AdminCall, parameter: string): readonly string[] {
  return query.getAll(parameter).filter((name) => name !== '');
}
