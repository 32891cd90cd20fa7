import { S3Error } from '../../protocol/s3/s3-error.ts';
import { subjectOf } from '../access/subject-of.ts';
import type { AuthenticatedPrincipal } from '../access/principal.ts';
import { ownerOf, type Subject } from '../identities/subject.ts';
import type { Caller } from './caller.ts';

/** The two names of the right to attach policies. Older policies have the first one. */
export const mayAttach = ['admin:AttachUserOrGroupPolicy', 'admin:UpdatePolicyAssociation'] as const;

/** Each of these rights shows which policies are attached. */
export const mayListAttached = ['admin:ListUserPolicies', 'admin:ListUsers', 'admin:ListGroups'] as const;

export function callerSubject(principal: AuthenticatedPrincipal): Subject {
  const subject = subjectOf(principal);
  if (subject === undefined) throw new Error('a caller who is authenticated has a subject');
  return subject;
}

/** What narrows the caller's credentials besides the policies of the subject. */
export function boundaryOf(principal: AuthenticatedPrincipal) {
  if (principal.kind === 'temporary') return principal.sessionPolicy;
  return principal.kind === 'service-account' ? principal.inlinePolicy : undefined;
}

export function isOwn({ principal }: Caller, subject: Subject): boolean {
  return ownerOf(subject) === ownerOf(callerSubject(principal));
}

/**
 * What belongs to the caller they may handle, what is another's only by the right. Credentials that a policy of their own narrows have
 * nothing of their own: they could give themselves what it withholds, by a key of the same owner that nothing narrows.
 */
export async function requireUnlessOwn(call: Caller, subject: Subject, action: string): Promise<void> {
  if (isOwn(call, subject) && boundaryOf(call.principal) === undefined) return;
  await call.require(action);
}

/** Whether the caller's policies allow one of these, and deny none. */
export async function mayOneOf(
  caller: Pick<Caller, 'require'>,
  actions: readonly string[],
  resource?: string,
): Promise<boolean> {
  try {
    await caller.require(actions, resource);
    return true;
  } catch (error) {
    if (!(error instanceof S3Error) || error.code !== 'AccessDenied') throw error;
    return false;
  }
}

/** Of several actions one is enough. The refusal names them: another right brought the caller here. */
export async function requireOneOf(caller: Pick<Caller, 'require'>, actions: readonly string[]): Promise<void> {
  if (await mayOneOf(caller, actions)) return;
  throw new S3Error('AccessDenied', `Access denied: this also takes ${actions.join(' or ')}.`);
}

/** Root itself, by credentials that nothing narrows. */
export function isWholeRoot(principal: AuthenticatedPrincipal): boolean {
  return callerSubject(principal).kind === 'root' && boundaryOf(principal) === undefined;
}
