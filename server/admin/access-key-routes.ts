import { ownerOf, parentName } from '../identities/subject.ts';
import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { keysOf, listTypeOf } from './access-key-list.ts';
import { callerSubject, requireUnlessOwn } from './own-account.ts';
import { callerOwner, ownerNamed } from './owner-named.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed } from './route.ts';
import { providerFields, shownAccount, shownTemporary } from './service-account-shape.ts';

/** Access keys of either kind: those of service accounts, which last, and temporary ones. */
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
    // Whoever holds a key may know what it is.
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
  for (const [name, owner] of await askedFor(call)) {
    const keys = await keysOf(call, owner, listed);
    if (keys !== undefined) found.set(name, keys);
  }
  return sealed(Object.fromEntries(found));
}

/** Names and owners: everybody here, those whom the query names and who exist, or the caller. */
async function askedFor(call: AdminCall): Promise<ReadonlyMap<string, string>> {
  const { identities, root } = call.services;
  const names = call.query.getAll('users').filter((name) => name !== '');
  const everybody = call.query.get('all') === 'true';
  if (everybody && names.length > 0) {
    throw new AdminError('XCofferInvalidRequest', 'Ask either for users by name or for all.');
  }
  const asked = new Map<string, string>();
  if (everybody) {
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

/** Without a name: of the credentials that ask. */
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
  if (credentials === undefined) throw noSuchKey(accessKey);
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
  if (credentials === undefined) throw noSuchKey(accessKey);
  await requireUnlessOwn(call, credentials.principal.subject, 'admin:ListTemporaryAccounts');
  return sealed(await shownTemporary(call.services, credentials));
}

function noSuchKey(accessKey: string): AdminError {
  return new AdminError(
    'XMinioAdminNoSuchAccessKey',
    `There is no service account and no temporary access key ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}
