import type { Status } from '../auth/identities/records.ts';
import { AdminError } from './admin-error.ts';
import { z } from 'zod';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { NewServiceAccount } from '../auth/identities/identities.ts';
import { parentName } from '../auth/identities/subject.ts';
import { type Caller, boundaryOf, callerSubject, isOwn } from './caller.ts';
import { serializePolicy } from '../../protocol/policy/document.ts';

/** Of users and groups `enabled` and `disabled`, of access keys also `on` and `off`, as clients of different ages say. */
export function statusOf(text: string): Status {
  if (text === 'enabled' || text === 'on') return 'enabled';
  if (text === 'disabled' || text === 'off') return 'disabled';
  throw new AdminError(
    'XMinioAdminInvalidArgument',
    `A status is enabled or disabled, not ${JSON.stringify(text.slice(0, 40))}.`,
  );
}

/** What clients take for "never". */
export const never = '1970-01-01T00:00:00Z';

const neverTimes = new Set([0, Date.parse('0001-01-01T00:00:00Z')]);

/** From an RFC 3339 time; null for the times that stand for none, undefined where none is given. */
export function expirationOf(text: string | null | undefined): Date | null | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new AdminError(
      'XMinioAdminInvalidArgument',
      `The expiration is a time such as 2030-01-31T00:00:00Z, not ${JSON.stringify(text.slice(0, 40))}.`,
    );
  }
  return neverTimes.has(time) ? null : new Date(time);
}

/** As clients show it: whole seconds. */
export function expirationText(expiration: number): string {
  return new Date(expiration).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Clients send the fields that they do not set as null or empty. */
const text = z.string().nullish();
const policy = z.unknown().optional();

export const newServiceAccountBody = z.object({
  policy,
  targetUser: text,
  accessKey: text,
  secretKey: text,
  name: text,
  description: text,
  /** What older clients call the description. */
  comment: text,
  expiration: text,
});

export const serviceAccountChangeBody = z.object({
  newPolicy: policy,
  newSecretKey: text,
  newStatus: text,
  newName: text,
  newDescription: text,
  newComment: text,
  newExpiration: text,
});

/** Undefined where nothing was said. */
export function given(value: string | null | undefined): string | undefined {
  return value === null || value === '' ? undefined : value;
}

/** Undefined where nothing was said, null where it says that there is to be no policy: a document without statements. */
export function givenPolicy(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !hasStatements(value)) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function hasStatements(document: object): boolean {
  if (Object.keys(document).some((name) => !['Version', 'Statement', 'ID', 'Id'].includes(name))) return true;
  const statements: unknown = 'Statement' in document ? document.Statement : undefined;
  return Array.isArray(statements) ? statements.length > 0 : statements !== undefined && statements !== null;
}

export type AccountSubject = NewServiceAccount['subject'];

/**
 * For whom a service account is to be made: the caller where nobody is named, with everything that their provider said of them. For
 * somebody else it needs the right; for root, whom no policy binds, it takes root.
 */
export async function targetSubject(call: Caller, targetUser: string | undefined): Promise<AccountSubject> {
  const { identities, root } = call.services;
  const own = callerSubject(call.principal);
  if (targetUser === undefined || targetUser === parentName(own, root.user)) {
    // What narrows the caller narrows the right to make keys too.
    if (boundaryOf(call.principal) !== undefined) await call.require('admin:CreateServiceAccount');
    return own;
  }
  await call.require('admin:CreateServiceAccount');
  if (targetUser === root.user)
    throw new S3Error('AccessDenied', 'Only the root user makes access keys for the root user.');
  if ((await identities.user(targetUser)) === undefined) {
    const person = await personNamed(call, targetUser);
    if (person !== undefined) return person;
    // An access key is no name of its owner: it may be one that the owner chose to be taken for another person.
    const key = await identities.serviceAccount(targetUser);
    const hint =
      key === undefined ? '' : ` It is an access key of ${parentName(key.subject, root.user)}: name the owner.`;
    throw new AdminError(
      'XMinioAdminNoSuchUser',
      `There is no user ${JSON.stringify(targetUser.slice(0, 128))}.${hint}`,
    );
  }
  return { kind: 'user', name: targetUser };
}

/** A person of a provider, by hash or DN: the access keys that they have keep what the provider said of them. */
async function personNamed({ services }: Caller, name: string): Promise<AccountSubject | undefined> {
  // No name of such a person is one that other owners are called by.
  if (/^(root$|user:)/.test(name)) return undefined;
  for await (const { subject } of services.identities.serviceAccounts(name)) return subject;
  return undefined;
}

/** No right that a policy gives is enough to take over what belongs to root. */
export function requireRootForRoot(call: Caller, subject: AccountSubject): void {
  if (subject.kind !== 'root' || (isOwn(call, subject) && boundaryOf(call.principal) === undefined)) return;
  throw new S3Error('AccessDenied', 'What belongs to the root user only the root user changes.');
}

/** A key that narrowed credentials make for their owner is narrowed alike: nobody gives more than they have. */
export function policyOfNewKey(
  caller: Caller,
  subject: AccountSubject,
  policy: string | undefined,
): string | undefined {
  const boundary = boundaryOf(caller.principal);
  if (boundary === undefined || !isOwn(caller, subject)) return policy;
  if (policy === undefined) return serializePolicy(boundary);
  throw new AdminError(
    'XCofferInvalidRequest',
    'These credentials are narrowed by a policy, and keys made with them carry the same one: leave the policy out.',
  );
}
