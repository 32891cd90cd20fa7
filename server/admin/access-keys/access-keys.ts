import { ownerOf, parentName } from '../../auth/identities/subject.ts';
import { adminPath, type AdminAnswer, type AdminCall, type Route, sealed } from '../call.ts';
import { keysOf, listTypeOf, providerFields, shownAccount, shownTemporary } from './access-key-views.ts';
import { callerSubject, requireUnlessOwn, callerOwner, ownerNamed, boundaryOf } from '../../administration/caller.ts';
import { normalizeDn } from '../../federation/ldap/distinguished-name.ts';
import { adminError } from '../../administration/admin-error.ts';
import type { RequestError } from '../../../protocol/request-error.ts';

/** Access keys of service accounts, and temporary ones. */
export const accessKeyRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: adminPath('list-access-keys-bulk'),
    action: 'admin:ListServiceAccounts',
    own: true,
    serve: list,
  },
  {
    method: 'GET',
    path: adminPath('info-access-key'),
    // A key may describe itself.
    action: (call) => (isKeyItself(call) ? [] : 'admin:ListServiceAccounts'),
    own: true,
    serve: info,
  },
  {
    method: 'GET',
    path: adminPath('temporary-account-info'),
    action: 'admin:ListTemporaryAccounts',
    own: true,
    serve: temporaryInfo,
  },
];

async function list(call: AdminCall): Promise<AdminAnswer> {
  const listed = listTypeOf(call);
  const found = new Map<string, object>();
  for (const [name, owner] of await requestedOwners(call)) {
    const keys = await keysOf(call, owner, listed);
    if (keys !== undefined) found.set(name, keys);
  }
  return sealed(Object.fromEntries(found));
}

/** Returns names and owners: all users, existing users named in the query, or the caller. */
async function requestedOwners(call: AdminCall): Promise<ReadonlyMap<string, string>> {
  const { identities, root } = call.services;
  const names = call.query.getAll('users').filter((name) => name !== '');
  const all = call.query.get('all') === 'true';
  if (all && names.length > 0) {
    throw adminError('XCofferInvalidRequest', 'Ask either for users by name or for all.');
  }
  const asked = new Map<string, string>();
  if (all) {
    await call.require('admin:ListServiceAccounts');
    await call.require('admin:ListUsers');
    asked.set(root.user, ownerOf({ kind: 'root' }));
    for await (const { accessKey } of identities.users())
      asked.set(accessKey, ownerOf({ kind: 'user', name: accessKey }));
    return asked;
  }
  const own = parentName(callerSubject(call.principal), root.user);
  if (names.length === 0) return asked.set(own, callerOwner(call));
  if (names.some((name) => name !== own)) await call.require('admin:ListServiceAccounts');
  for (const name of names) {
    const exists = name === own || name === root.user || (await identities.user(name)) !== undefined;
    if (exists) asked.set(name, await ownerNamed(call, name));
  }
  return asked;
}

/** Without a name it describes the caller's credentials. */
async function info(call: AdminCall): Promise<AdminAnswer> {
  const { identities, temporary } = call.services;
  const accessKey = call.query.get('accessKey') || call.principal.accessKey;
  const self = isKeyItself(call);
  const account = await identities.serviceAccount(accessKey);
  if (account !== undefined) {
    if (!self) await requireUnlessOwn(call, account.subject, 'admin:ListServiceAccounts');
    const { comment: _, ...shown } = await shownAccount(call.services, account);
    return sealed({ AccessKey: accessKey, ...shown, userType: 'Service Account', ...providerFields(account.subject) });
  }
  const credentials = await temporary.find(accessKey);
  if (credentials === undefined) {
    // Only a caller with both rights learns it: for others, it is like the key of another owner.
    for (const action of ['admin:ListServiceAccounts', 'admin:ListTemporaryAccounts']) await call.require(action);
    throw noSuchKey(accessKey);
  }
  if (!self) await requireUnlessOwn(call, credentials.principal.subject, 'admin:ListTemporaryAccounts');
  const shown = await shownTemporary(call.services, credentials);
  return sealed({ AccessKey: accessKey, ...shown, userType: 'STS', ...providerFields(credentials.principal.subject) });
}

function isKeyItself({ query, principal }: AdminCall): boolean {
  return [null, '', principal.accessKey].includes(query.get('accessKey'));
}

async function temporaryInfo(call: AdminCall): Promise<AdminAnswer> {
  const accessKey = call.required('accessKey');
  const credentials = await call.services.temporary.find(accessKey);
  if (credentials === undefined) {
    await call.require('admin:ListTemporaryAccounts');
    throw noSuchKey(accessKey);
  }
  await requireUnlessOwn(call, credentials.principal.subject, 'admin:ListTemporaryAccounts');
  return sealed(await shownTemporary(call.services, credentials));
}

function noSuchKey(accessKey: string): RequestError {
  return adminError(
    'XMinioAdminNoSuchAccessKey',
    `There is no service account and no temporary access key ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}

/**
 * Revokes temporary credentials: all of a subject (`fullRevoke`), or those with a label (`tokenRevokeType`). Callers may revoke their own;
 * temporary credentials without a parameter revoke those with their own label.
 */
export const revokeTokensRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: adminPath('revoke-tokens/(builtin|ldap|openid)'),
    action: 'admin:RemoveServiceAccount',
    own: true,
    serve: revoke,
  },
];

async function revoke(call: AdminCall): Promise<AdminAnswer> {
  const { temporary } = call.services;
  const user = text(call, 'user');
  const full = call.query.get('fullRevoke') === 'true' || call.query.get('full') === 'true';
  const revokeType = text(call, 'tokenRevokeType');
  if (full && revokeType !== undefined) {
    throw adminError('XCofferInvalidRequest', 'Give either fullRevoke=true or a tokenRevokeType, not both.');
  }
  const owner = user === undefined ? callerOwner(call) : await ownerOfUser(call, user);
  // A caller with a permission boundary needs the right even for own credentials. Without the right, an absent user is like another one.
  if (owner !== callerOwner(call) || boundaryOf(call.principal) !== undefined) {
    await call.require('admin:RemoveServiceAccount');
  }
  if (owner === undefined) throw noSuchUser(user ?? '');
  const label = full ? undefined : (revokeType ?? (user === undefined ? await ownLabel(call) : undefined));
  if (!full && label === undefined) {
    throw adminError(
      'XCofferInvalidRequest',
      'Say which temporary credentials: all of them by fullRevoke=true, or those of a label by tokenRevokeType.',
    );
  }
  await temporary.revokeAllOf(owner, label);
  return { kind: 'none', status: 204 };
}

/** Returns the label of the caller's credentials. */
async function ownLabel({ principal, services }: AdminCall): Promise<string | undefined> {
  if (principal.kind !== 'temporary') return undefined;
  return (await services.temporary.find(principal.accessKey))?.revokeType;
}

async function ownerOfUser(call: AdminCall, user: string): Promise<string | undefined> {
  const { root, identities } = call.services;
  const kind = call.parts[0];
  if (kind === 'ldap') return normalizeDn(user);
  // MinIO's name of an external user; names of other owners are refused.
  if (kind === 'openid') return /^(root$|user:)/.test(user) ? undefined : user;
  if (user === root.user) return ownerOf({ kind: 'root' });
  return (await identities.user(user)) === undefined ? undefined : ownerOf({ kind: 'user', name: user });
}

function noSuchUser(user: string): RequestError {
  return adminError('XMinioAdminNoSuchUser', `There is no user ${JSON.stringify(user.slice(0, 256))} of this kind.`);
}

function text({ query }: AdminCall, name: string): string | undefined {
  const value = query.get(name);
  return value === null || value === '' ? undefined : value;
}
