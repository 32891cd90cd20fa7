import { z } from 'zod';
import type { User } from '../auth/identities/records.ts';
import {
  adminPath,
  sealedJsonBody,
  type AdminAnswer,
  type AdminCall,
  json,
  nothing,
  type Route,
  sealed,
} from './call.ts';
import { bucketAccess, removeUserAndCredentials } from '../administration/users.ts';
import { existingPolicy, policyNames, effectivePolicy } from '../administration/policies.ts';
import type { AdminServices } from '../administration/services.ts';
import { statusOf } from '../administration/service-accounts.ts';
import { displayNameOf } from '../auth/principal.ts';
import { namedSizes, namedVersionCounts, type BucketUsage } from '../observability/usage/usage.ts';
import { callerSubject } from '../administration/caller.ts';
import { backend } from './storage.ts';
import { adminError } from '../administration/admin-error.ts';

export const userRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('list-users'), action: 'admin:ListUsers', serve: listUsers },
  { method: 'GET', path: adminPath('user-info'), action: 'admin:GetUser', own: true, serve: userInfo },
  { method: 'PUT', path: adminPath('add-user'), action: 'admin:CreateUser', own: true, serve: addUser },
  { method: 'PUT', path: adminPath('set-user-status'), action: 'admin:EnableUser', serve: setUserStatus },
  { method: 'DELETE', path: adminPath('remove-user'), action: 'admin:DeleteUser', serve: removeUser },
];

/** Lists all users, or with `bucket` those who can read or write it. */
async function listUsers({ services, query }: AdminCall): Promise<AdminAnswer> {
  const bucket = query.get('bucket');
  const found = new Map<string, unknown>();
  for await (const user of services.identities.users()) {
    if (bucket !== null) {
      const { accessKey } = user;
      const principal = { kind: 'user', accessKey, subject: { kind: 'user', name: accessKey } } as const;
      const access = await bucketAccess(services.access, principal, bucket);
      if (!access.read && !access.write) continue;
    }
    found.set(user.accessKey, await described(services, user));
  }
  return sealed(Object.fromEntries(found));
}

async function userInfo(call: AdminCall): Promise<AdminAnswer> {
  const name = call.required('accessKey');
  if (!isSelf(call, name)) await call.require('admin:GetUser');
  const user = await call.services.identities.user(name);
  if (user === undefined) throw adminError('XMinioAdminNoSuchUser', `There is no user ${JSON.stringify(name)}.`);
  return json(await described(call.services, user));
}

async function described({ identities }: AdminServices, { accessKey, status, updatedAt }: User) {
  const attached = await identities.attached({ kind: 'user', name: accessKey });
  const groups = (await identities.groupsOf(accessKey)).map(({ name }) => name);
  return {
    ...(attached.length === 0 ? {} : { policyName: attached.join(',') }),
    status,
    ...(groups.length === 0 ? {} : { memberOf: groups.toSorted() }),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

const newUser = z.strictObject({
  secretKey: z.string().optional(),
  status: z.string().optional(),
  /** Names separated by commas. They replace the attached policies. */
  policy: z.string().optional(),
  /** The name that minio-java has for it. */
  policyName: z.string().nullish(),
  /** minio-java sends it with each user. Groups have a call of their own. */
  memberOf: z.array(z.never()).nullish(),
});

/** Creates a user or replaces the secret key. Users may replace only their own secret key. */
async function addUser(call: AdminCall): Promise<AdminAnswer> {
  const { identities } = call.services;
  const accessKey = call.required('accessKey');
  const self = isSelf(call, accessKey);
  if (!self) await call.require('admin:CreateUser');
  const { secretKey = '', status = '', policy = '', policyName } = await sealedJsonBody(call, newUser);
  const policies = policyNames([policy, policyName ?? ''].filter((names) => names !== '').join(','));
  if (policies.length > 0) await call.require('admin:AttachUserOrGroupPolicy');
  // Checks the policies before the user exists without them.
  for (const name of policies) await existingPolicy(identities, name);
  await identities.putUser({
    accessKey,
    ...(secretKey === '' ? {} : { secretKey }),
    ...(status === '' || self ? {} : { status: statusOf(status) }),
  });
  if (policies.length > 0) await identities.setAttached({ kind: 'user', name: accessKey }, policies);
  return nothing;
}

async function setUserStatus(call: AdminCall): Promise<AdminAnswer> {
  const status = statusOf(call.required('status'));
  await call.services.identities.putUser({ accessKey: call.required('accessKey'), status });
  return nothing;
}

async function removeUser(call: AdminCall): Promise<AdminAnswer> {
  await removeUserAndCredentials(call.services, call.required('accessKey'));
  return nothing;
}

/** Temporary credentials and service accounts of a user may not change the secret key. */
function isSelf({ principal }: AdminCall, name: string): boolean {
  return principal.kind === 'user' && principal.accessKey === name;
}

export const accountRoutes: readonly Route[] = [
  // A caller may see the own account and rights.
  { method: 'GET', path: adminPath('accountinfo'), action: [], serve: accountInfo },
];

/** Returns the rights of the caller, and the buckets that the caller can read or write, with the last counts. */
async function accountInfo({ services, principal }: AdminCall): Promise<AdminAnswer> {
  const buckets: object[] = [];
  const usage = await services.usage?.last();
  const counted = new Map(usage?.buckets.map((bucket) => [bucket.bucket, bucket]));
  for (const { name, created } of await services.objects.listBuckets()) {
    const access = await bucketAccess(services.access, principal, name);
    if (!access.read && !access.write) continue;
    buckets.push({ ...stored(counted.get(name)), name, created: created.toISOString(), access });
  }
  const subject = callerSubject(principal);
  return json({
    AccountName: subject.kind === 'root' ? services.root.user : displayNameOf(principal),
    Server: backend,
    Policy: await effectivePolicy(services.identities, subject),
    Buckets: buckets.length === 0 ? null : buckets,
  });
}

/** Returns nothing of a bucket that is newer than the last count, or where the last count did not read the bucket. */
function stored(bucket: BucketUsage | undefined): object {
  return {
    ...(bucket && {
      size: bucket.bytes,
      objects: bucket.objects,
      versions: bucket.versions,
      deleteMarkers: bucket.deleteMarkers,
      objectHistogram: namedSizes(bucket.sizes),
      objectsVersionsHistogram: namedVersionCounts(bucket),
    }),
    details: null,
    prefixUsage: null,
  };
}
