import { type AuthenticatedPrincipal, subjectOf, type Principal } from '../auth/principal.ts';
import type { Identities } from '../auth/identities/identities.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { ownerOf, type Subject, parentName } from '../auth/identities/subject.ts';
import { AdminError } from './admin-error.ts';
import type { AdminServices } from './services.ts';

/** Whoever administers, as the rules about what is whose need them: a call of the admin API, or a person at the console. */
export interface Caller {
  readonly principal: AuthenticatedPrincipal;
  readonly services: { readonly identities: Identities; readonly root: { readonly user: string } };
  /** Rejects with `AccessDenied` where the caller's policies do not allow this: of several actions one, and none is denied. */
  require(action: string | readonly string[], resource?: string): Promise<void>;
}

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

export function callerOwner({ principal }: Caller): string {
  return ownerOf(callerSubject(principal));
}

/** Whom clients mean by a name: the caller where they give none, a user, root, or a federated person by hash or DN. */
export async function ownerNamed(call: Caller, name: string | undefined): Promise<string> {
  const { identities, root } = call.services;
  if (name === undefined || name === parentName(callerSubject(call.principal), root.user)) return callerOwner(call);
  if (name === root.user) return ownerOf({ kind: 'root' });
  // No name of a federated person is one that owners are called by here.
  const federated = !/^(root$|user:)/.test(name) && (await identities.user(name)) === undefined;
  return federated ? name : ownerOf({ kind: 'user', name });
}

/** Who is meant by the name of a user or by any access key. Rejects where nobody is, or nobody who gets in. */
export async function principalNamed(
  {
    access,
    identities,
  }: { readonly access: Pick<AdminServices['access'], 'credentials'> } & Pick<AdminServices, 'identities'>,
  name: string,
): Promise<Principal> {
  const credentials = await access.credentials(name);
  if (credentials !== undefined) return credentials.principal;
  const shown = JSON.stringify(name.slice(0, 128));
  if ((await identities.user(name))?.status === 'disabled' || (await identities.serviceAccount(name)) !== undefined) {
    throw new AdminError(
      'XCofferRefused',
      `${shown} is disabled or expired, or its owner is: every request of its is refused, whatever the policies say.`,
    );
  }
  throw new AdminError('XMinioAdminNoSuchUser', `There is no user and no access key ${shown}.`);
}
