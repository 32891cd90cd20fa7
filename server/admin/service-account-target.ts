import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { NewServiceAccount } from '../identities/identities.ts';
import { parentName } from '../identities/subject.ts';
import { AdminError } from './admin-error.ts';
import type { Caller } from './caller.ts';
import { boundaryOf, callerSubject, isOwn } from './own-account.ts';

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
