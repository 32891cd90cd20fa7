import { normalizeDn } from '../../federation/ldap/distinguished-name.ts';
import type { FederatedSubject, Subject } from '../../auth/identities/subject.ts';
import { keysOf, listTypeOf } from './access-key-views.ts';
import { adminPath, type AdminAnswer, type AdminCall, type Route, sealed } from '../call.ts';
import { callerSubject } from '../../administration/caller.ts';
import { adminError } from '../../administration/admin-error.ts';

/** Access keys of external users: `mc idp openid|ldap accesskey ls`. */
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

interface ListedUser {
  readonly minioAccessKey: string;
  readonly ID: string;
  readonly readableName: string;
}

/** Lists by configuration, or only the one in the query. */
async function listOpenId(call: AdminCall): Promise<AdminAnswer> {
  const listed = listTypeOf(call);
  const only = call.query.get('allConfigs') === 'true' ? '' : (call.query.get('configName') ?? '');
  const subjects = await requestedUsers(call, 'openid', namesOf(call, 'users'));
  const configurations = new Map<string, ListedUser[]>();
  for (const { provider, parent, subjectId, displayName } of subjects) {
    if (only !== '' && provider !== only) continue;
    const keys = await keysOf(call, parent, listed);
    if (keys === undefined) continue;
    const users = configurations.get(provider) ?? [];
    users.push({ minioAccessKey: parent, ID: subjectId ?? '', readableName: displayName, ...keys });
    configurations.set(provider, users);
  }
  return sealed([...configurations].map(([configName, users]) => ({ configName, users })));
}

/** Lists by DN. */
async function listLdap(call: AdminCall, names: readonly string[]): Promise<readonly (readonly [string, object])[]> {
  const listed = listTypeOf(call);
  const found: (readonly [string, object])[] = [];
  for (const { parent } of await requestedUsers(call, 'ldap', names)) {
    const keys = await keysOf(call, parent, listed);
    if (keys !== undefined) found.push([parent, keys]);
  }
  return found;
}

/** Returns all external users of the source with access keys, those named in the query, or the caller. */
async function requestedUsers(
  call: AdminCall,
  source: 'openid' | 'ldap',
  names: readonly string[],
): Promise<readonly FederatedSubject[]> {
  const all = call.query.get('all') === 'true';
  if (all && names.length > 0) {
    throw adminError('XCofferInvalidRequest', 'Ask either for users by name or for all.');
  }
  const caller = callerSubject(call.principal);
  const own = isOf(caller, source) ? caller : undefined;
  if (!all && names.length === 0) {
    if (own !== undefined) return [own];
    throw adminError(
      'XCofferInvalidRequest',
      'The caller is no user of this provider: ask for users by name, or for all by all=true.',
    );
  }
  if (all || own === undefined || names.some((name) => !isCalled(own, name))) {
    await call.require('admin:ListServiceAccounts');
  }
  const subjects = new Map<string, FederatedSubject>();
  for await (const subject of subjectsOf(call, source)) {
    const asked = all || names.some((name) => isCalled(subject, name));
    if (asked && !subjects.has(subject.parent)) subjects.set(subject.parent, subject);
  }
  return [...subjects.values()];
}

async function* subjectsOf({ services }: AdminCall, source: 'openid' | 'ldap'): AsyncIterable<FederatedSubject> {
  for await (const owner of services.temporary.owners()) {
    for await (const { principal } of services.temporary.ofOwner(owner)) {
      if (isOf(principal.subject, source)) yield principal.subject;
      // All credentials of an owner have the same subject.
      break;
    }
  }
  for await (const { subject } of services.identities.serviceAccounts()) if (isOf(subject, source)) yield subject;
}

function isOf(subject: Subject, source: 'openid' | 'ldap'): subject is FederatedSubject {
  return subject.kind === 'federated' && subject.source === source;
}

/** Matches the parent, the provider's ID, the display name, or the DN in any spelling. */
function isCalled({ parent, subjectId, displayName }: FederatedSubject, name: string): boolean {
  return [parent, subjectId, displayName].includes(name) || normalizeDn(name) === parent;
}

function namesOf({ query }: AdminCall, parameter: string): readonly string[] {
  return query.getAll(parameter).filter((name) => name !== '');
}
