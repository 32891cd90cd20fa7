import { type AuthenticatedPrincipal, subjectOf, type Principal } from '../auth/principal.ts';
import type { Identities } from '../auth/identities/identities.ts';
import { isUnrestricted } from '../../protocol/policy/is-within.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { ownerOf, type Subject, parentName } from '../auth/identities/subject.ts';
import type { AdminServices } from './services.ts';
import { adminError } from './admin-error.ts';

/** The caller of an administrative operation: a call of the admin API, or a user of the console. */
export interface Caller {
  readonly principal: AuthenticatedPrincipal;
  readonly services: { readonly identities: Identities; readonly root: { readonly user: string } };
  /** Rejects with `AccessDenied` unless the caller has this right. Of several names one must be allowed and none denied. */
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

/** Returns the permission boundary of the caller's credentials. */
export function boundaryOf(principal: AuthenticatedPrincipal) {
  if (principal.kind === 'temporary') return principal.sessionPolicy;
  return principal.kind === 'service-account' ? principal.inlinePolicy : undefined;
}

/** Reports whether the caller has no permission boundary, or one that excludes nothing. */
export function isUnbounded(principal: AuthenticatedPrincipal): boolean {
  const boundary = boundaryOf(principal);
  return boundary === undefined || isUnrestricted(boundary);
}

/** Returns the identities as the caller may change them: credentials with a permission boundary give nobody more than it allows. */
export function identitiesFor(principal: AuthenticatedPrincipal, identities: Identities): Identities {
  const document = boundaryOf(principal);
  if (document === undefined || isUnbounded(principal)) return identities;
  return identities.boundedBy({ document, owner: ownerOf(callerSubject(principal)) });
}

/** Rejects unless the caller may change identity providers, which decide which users get which policies: any of all. */
export async function requireChangeOfProviders(caller: Pick<Caller, 'principal' | 'require'>): Promise<void> {
  await requireOneOf(caller, mayAttach);
  refuseBoundedProviderChange(caller.principal);
}

/** Rejects for credentials with a permission boundary that excludes something. */
export function refuseBoundedProviderChange(principal: AuthenticatedPrincipal): void {
  if (isUnbounded(principal)) return;
  throw new S3Error(
    'AccessDenied',
    'Access denied: an identity provider can give its users any policy, and these credentials have a policy of their own that restricts them.',
  );
}

export function isOwn({ principal }: Caller, subject: Subject): boolean {
  return ownerOf(subject) === ownerOf(callerSubject(principal));
}

/**
 * Checks a right unless the account belongs to the caller. Credentials with a permission boundary always need the right: otherwise they
 * could create a key of the same owner without the boundary.
 */
export async function requireUnlessOwn(call: Caller, subject: Subject, action: string): Promise<void> {
  if (isOwn(call, subject) && boundaryOf(call.principal) === undefined) return;
  await call.require(action);
}

/** Reports whether one of these actions is allowed and none is denied. */
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

/** Like `require`; its error names the actions, because the caller reached this point by another right. */
async function requireOneOf(caller: Pick<Caller, 'require'>, actions: readonly string[]): Promise<void> {
  if (await mayOneOf(caller, actions)) return;
  throw new S3Error('AccessDenied', `Access denied: this also takes ${actions.join(' or ')}.`);
}

/** Reports whether the caller is root without a permission boundary. */
export function isUnrestrictedRoot(principal: AuthenticatedPrincipal): boolean {
  return callerSubject(principal).kind === 'root' && boundaryOf(principal) === undefined;
}

export function callerOwner({ principal }: Caller): string {
  return ownerOf(callerSubject(principal));
}

/** Returns the owner that a client names: the caller without a name, a user, root, or an external user by hash or DN. */
export async function ownerNamed(call: Caller, name: string | undefined): Promise<string> {
  const { identities, root } = call.services;
  if (name === undefined || name === parentName(callerSubject(call.principal), root.user)) return callerOwner(call);
  if (name === root.user) return ownerOf({ kind: 'root' });
  // External users have no such names.
  const federated = !/^(root$|user:)/.test(name) && (await identities.user(name)) === undefined;
  return federated ? name : ownerOf({ kind: 'user', name });
}

/** Returns the principal with this user name or access key. Rejects if there is none, or if it is disabled. */
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
    throw adminError(
      'XCofferRefused',
      `${shown} is disabled or expired, or its owner is: all its requests are refused, whatever the policies say.`,
    );
  }
  throw adminError('XMinioAdminNoSuchUser', `There is no user and no access key ${shown}.`);
}
