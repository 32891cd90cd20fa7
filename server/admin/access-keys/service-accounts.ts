import type { z } from 'zod';
import type { ServiceAccountChange } from '../../auth/identities/identities.ts';
import type { ServiceAccount } from '../../auth/identities/records.ts';
import {
  adminPath,
  isSecondGeneration,
  listsNamesAlone,
  sealedJsonBody,
  type AdminAnswer,
  type AdminCall,
  type Route,
  sealed,
} from '../call.ts';
import {
  expirationOf,
  expirationText,
  never,
  policyOfNewKey,
  given,
  givenPolicy,
  newServiceAccountBody,
  serviceAccountChangeBody,
  type AccountSubject,
  requireRootForRoot,
  targetSubject,
  statusOf,
} from '../../administration/service-accounts.ts';
import { optionalField } from '../../administration/optional-field.ts';
import { requireUnlessOwn, callerOwner, ownerNamed } from '../../administration/caller.ts';
import { listedAccount, shownAccount } from './access-key-views.ts';
import { adminError } from '../../administration/admin-error.ts';

const done: AdminAnswer = { kind: 'none', status: 204 };

/** Allowed by default for the caller's own access keys. */
export const serviceAccountRoutes: readonly Route[] = [
  {
    method: 'PUT',
    path: adminPath('add-service-account'),
    action: 'admin:CreateServiceAccount',
    own: true,
    serve: add,
  },
  {
    method: 'POST',
    path: adminPath('update-service-account'),
    action: 'admin:UpdateServiceAccount',
    own: true,
    serve: update,
  },
  {
    method: 'GET',
    path: adminPath('list-service-accounts'),
    action: 'admin:ListServiceAccounts',
    own: true,
    serve: list,
  },
  {
    method: 'GET',
    path: adminPath('info-service-account'),
    action: 'admin:ListServiceAccounts',
    own: true,
    serve: info,
  },
  {
    method: 'DELETE',
    path: adminPath('delete-service-account'),
    action: 'admin:RemoveServiceAccount',
    own: true,
    serve: remove,
  },
];

async function add(call: AdminCall): Promise<AdminAnswer> {
  const body = await sealedJsonBody(call, newServiceAccountBody);
  return createAccount(call, body, await targetSubject(call, given(body.targetUser)));
}

/** Creates the account. The caller has checked the right. */
export async function createAccount(
  call: AdminCall,
  body: z.infer<typeof newServiceAccountBody>,
  subject: AccountSubject,
): Promise<AdminAnswer> {
  const policy = policyOfNewKey(call, subject, givenPolicy(body.policy) ?? undefined);
  const expiration = expirationOf(body.expiration) ?? undefined;
  const account = await call.services.identities.createServiceAccount({
    subject,
    ...optionalField('accessKey', given(body.accessKey)),
    ...optionalField('secretKey', given(body.secretKey)),
    ...optionalField('policy', policy),
    ...optionalField('name', given(body.name)),
    ...optionalField('description', given(body.description) ?? given(body.comment)),
    ...optionalField('expiration', expiration),
  });
  const { accessKey, secretKey } = account;
  const end = account.expiration === undefined ? never : expirationText(account.expiration);
  return sealed({ credentials: { accessKey, secretKey, expiration: end } });
}

async function update(call: AdminCall): Promise<AdminAnswer> {
  const accessKey = call.required('accessKey');
  const body = await sealedJsonBody(call, serviceAccountChangeBody);
  const { subject } = await known(call, accessKey, 'admin:UpdateServiceAccount');
  requireRootForRoot(call, subject);
  const status = given(body.newStatus);
  const change: ServiceAccountChange = {
    ...optionalField('policy', givenPolicy(body.newPolicy)),
    ...optionalField('secretKey', given(body.newSecretKey)),
    ...optionalField('status', status === undefined ? undefined : statusOf(status)),
    ...optionalField('name', given(body.newName)),
    ...optionalField('description', given(body.newDescription) ?? given(body.newComment)),
    ...optionalField('expiration', expirationOf(body.newExpiration)),
  };
  await call.services.identities.updateServiceAccount(accessKey, change);
  return done;
}

async function list(call: AdminCall): Promise<AdminAnswer> {
  const { identities, root } = call.services;
  const owner = await ownerNamed(call, given(call.query.get('user')));
  if (owner !== callerOwner(call)) await call.require('admin:ListServiceAccounts');
  const accounts: ServiceAccount[] = [];
  for await (const account of identities.serviceAccounts(owner)) accounts.push(account);
  if (listsNamesAlone(call.request.headers['user-agent'])) {
    return sealed({ accounts: accounts.map(({ accessKey }) => accessKey) });
  }
  return sealed({ accounts: accounts.map((account) => listedAccount(account, root.user)) });
}

async function info(call: AdminCall): Promise<AdminAnswer> {
  const account = await known(call, call.required('accessKey'), 'admin:ListServiceAccounts');
  const { comment, ...shown } = await shownAccount(call.services, account);
  return sealed({ ...shown, ...(isSecondGeneration(call.request.headers['user-agent']) ? { comment } : {}) });
}

async function remove(call: AdminCall): Promise<AdminAnswer> {
  const { accessKey, subject } = await known(call, call.required('accessKey'), 'admin:RemoveServiceAccount');
  requireRootForRoot(call, subject);
  await call.services.identities.removeServiceAccount(accessKey);
  return done;
}

/** Only a caller with the right learns that there is no such key: for others, it is like the key of another owner. */
async function known(call: AdminCall, accessKey: string, action: string): Promise<ServiceAccount> {
  const account = await call.services.identities.serviceAccount(accessKey);
  await (account === undefined ? call.require(action) : requireUnlessOwn(call, account.subject, action));
  if (account !== undefined) return account;
  throw adminError(
    'XMinioAdminNoSuchAccessKey',
    `There is no service account ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}
