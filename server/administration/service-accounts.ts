import type { Status } from '../auth/identities/records.ts';
import { z } from 'zod';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { NewServiceAccount } from '../auth/identities/identities.ts';
import { parentName } from '../auth/identities/subject.ts';
import { type Caller, boundaryOf, callerSubject, isOwn } from './caller.ts';
import { serializePolicy } from '../../protocol/policy/document.ts';
import { adminError } from './admin-error.ts';

/** Parses a status: `enabled` and `disabled`, for access keys also `on` and `off`, depending on the client. */
export function statusOf(text: string): Status {
  if (text === 'enabled' || text === 'on') return 'enabled';
  if (text === 'disabled' || text === 'off') return 'disabled';
  throw adminError(
    'XMinioAdminInvalidArgument',
    `A status is enabled or disabled, not ${JSON.stringify(text.slice(0, 40))}.`,
  );
}

/** The time that clients read as "never". */
export const never = '1970-01-01T00:00:00Z';

const neverTimes = new Set([0, Date.parse('0001-01-01T00:00:00Z')]);

/** Parses an RFC 3339 time; returns null for a time that means "never", and undefined for none. */
export function expirationOf(text: string | null | undefined): Date | null | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw adminError(
      'XMinioAdminInvalidArgument',
      `The expiration is a time such as 2030-01-31T00:00:00Z, not ${JSON.stringify(text.slice(0, 40))}.`,
    );
  }
  return neverTimes.has(time) ? null : new Date(time);
}

/** Formats a time in whole seconds. */
export function expirationText(expiration: number): string {
  return new Date(expiration).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Clients send absent fields as null or empty. */
const text = z.string().nullish();
const policy = z.unknown().optional();

export const newServiceAccountBody = z.strictObject({
  policy,
  targetUser: text,
  accessKey: text,
  secretKey: text,
  name: text,
  description: text,
  /** The description in older clients. */
  comment: text,
  expiration: text,
  /** The Python client of MinIO sends the status of new access keys. */
  status: z.enum(['', 'enabled']).nullish(),
});

export const serviceAccountChangeBody = z.strictObject({
  newPolicy: policy,
  newSecretKey: text,
  newStatus: text,
  newName: text,
  newDescription: text,
  newComment: text,
  newExpiration: text,
});

/** Returns undefined for null and empty texts. */
export function given(value: string | null | undefined): string | undefined {
  return value === null || value === '' ? undefined : value;
}

/**
 * Returns the policy as JSON; undefined if none was sent, null for `{}`, which removes the policy. A document with a version and no
 * statement is not "no policy": it is returned, and the parser refuses it.
 */
export function givenPolicy(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  // Clients write an absent document as `{"Version":"","Statement":null}`.
  if (isAbsentDocument(value)) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isAbsentDocument(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((field) => field === null || field === '');
}

export type AccountSubject = NewServiceAccount['subject'];

/**
 * Returns the subject of a new service account: the caller without a name, with all facts of the provider. Another subject needs the right;
 * root needs root.
 */
export async function targetSubject(call: Caller, targetUser: string | undefined): Promise<AccountSubject> {
  const { identities, root } = call.services;
  const own = callerSubject(call.principal);
  if (targetUser === undefined || targetUser === parentName(own, root.user)) {
    // A caller with a permission boundary needs the right.
    if (boundaryOf(call.principal) !== undefined) await call.require('admin:CreateServiceAccount');
    return own;
  }
  await call.require('admin:CreateServiceAccount');
  if (targetUser === root.user)
    throw new S3Error('AccessDenied', 'Only the root user makes access keys for the root user.');
  if ((await identities.user(targetUser)) === undefined) {
    const externalUser = await externalUserNamed(call, targetUser);
    if (externalUser !== undefined) return externalUser;
    // An access key does not name its owner: the owner may have chosen it to look like another name.
    const key = await identities.serviceAccount(targetUser);
    const hint =
      key === undefined ? '' : ` It is an access key of ${parentName(key.subject, root.user)}: name the owner.`;
    throw adminError('XMinioAdminNoSuchUser', `There is no user ${JSON.stringify(targetUser.slice(0, 128))}.${hint}`);
  }
  return { kind: 'user', name: targetUser };
}

/** Finds an external user by hash or DN. Existing access keys have the facts of the provider. */
async function externalUserNamed({ services }: Caller, name: string): Promise<AccountSubject | undefined> {
  // External users have no such names.
  if (/^(root$|user:)/.test(name)) return undefined;
  for await (const { subject } of services.identities.serviceAccounts(name)) return subject;
  return undefined;
}

/** No policy allows changes to what belongs to root. */
export function requireRootForRoot(call: Caller, subject: AccountSubject): void {
  if (subject.kind !== 'root' || (isOwn(call, subject) && boundaryOf(call.principal) === undefined)) return;
  throw new S3Error('AccessDenied', 'What belongs to the root user only the root user changes.');
}

/**
 * Returns the policy of a new key. A key that is made with a permission boundary gets the same one. That of another owner may have a narrower
 * one; `identitiesFor` refuses a wider one.
 */
export function policyOfNewKey(
  caller: Caller,
  subject: AccountSubject,
  policy: string | undefined,
): string | undefined {
  const boundary = boundaryOf(caller.principal);
  if (boundary === undefined) return policy;
  if (policy === undefined) return serializePolicy(boundary);
  if (!isOwn(caller, subject)) return policy;
  throw adminError(
    'XCofferInvalidRequest',
    'These credentials have a permission boundary, and keys made with them get the same one: leave the policy out.',
  );
}
