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
  const owner = await identities.serviceAccount(targetUser);
  if (owner !== undefined) {
    requireRootForRoot(call, owner.subject);
    return owner.subject;
  }
  if ((await identities.user(targetUser)) === undefined) {
    throw new AdminError('XMinioAdminNoSuchUser', `There is no user ${JSON.stringify(targetUser.slice(0, 128))}.`);
  }
  return { kind: 'user', name: targetUser };
}

/** No right that a policy gives is enough to take over what belongs to root. */
export function requireRootForRoot(call: Caller, subject: AccountSubject): void {
  if (subject.kind !== 'root' || (isOwn(call, subject) && boundaryOf(call.principal) === undefined)) return;
  throw new S3Error('AccessDenied', 'What belongs to the root user only the root user changes.');
}
