import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { Subject } from './identities/subject.ts';
import { createHash } from 'node:crypto';

/** Who sends a request, once its signature is verified. */
export type Principal =
  | { readonly kind: 'anonymous' }
  /** `former`: by the credentials of before a rotation. */
  | { readonly kind: 'root'; readonly accessKey: string; readonly former?: true }
  | { readonly kind: 'user'; readonly accessKey: string; readonly subject: Subject }
  | TemporaryPrincipal
  | ServiceAccountPrincipal;

export type AuthenticatedPrincipal = Exclude<Principal, { readonly kind: 'anonymous' }>;

/** Credentials with an end, bought from STS: they carry the rights of a subject, narrowed by the policy of the session. */
export interface TemporaryPrincipal {
  readonly kind: 'temporary';
  readonly accessKey: string;
  readonly subject: Subject;
  readonly sessionPolicy?: PolicyDocument;
  readonly expiration: Date;
}

/** An access key for a program: it carries the rights of the subject that owns it, narrowed by a policy of its own. */
interface ServiceAccountPrincipal {
  readonly kind: 'service-account';
  readonly accessKey: string;
  readonly subject: Subject;
  readonly inlinePolicy?: PolicyDocument;
  readonly expiration?: Date;
}

/** What is asked for: an action (`s3:GetObject`, `admin:ServerInfo`) on a resource (`bucket/key`, `bucket`, `''` for admin). */
export interface AccessRequest {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  /** Condition keys of the request, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /** What everyone may do for themselves, as making access keys of their own: allowed unless a policy denies it. */
  readonly allowedUnlessDenied?: boolean;
  /** Asks whether it could be allowed once the body is read, which says the rest: a caller who can do nothing sends none. */
  readonly unknown?: StillUnknown;
}

/** The reason goes to the log and to admin tools, never to the caller. `explicit`: a statement denies it. */
export type Decision =
  | { readonly kind: 'allow'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string; readonly explicit?: true };

export interface StoredCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Set for temporary credentials: requests must carry it. */
  readonly sessionToken?: string;
  readonly principal: Principal;
}

/** What the S3, STS, admin and console rooms need of this one. */
export interface Access {
  /** The credentials of an access key; undefined when there are none, or they expired. */
  credentials(accessKey: string): Promise<StoredCredentials | undefined>;

  /** Those of before a rotation of the root credentials, while they are still good. */
  formerRoot?(accessKey: string): Promise<StoredCredentials | undefined>;

  authorize(request: AccessRequest): Promise<Decision>;
}

/** Whose rights the principal has; undefined for a stranger. */
export function subjectOf(principal: Principal): Subject | undefined {
  switch (principal.kind) {
    case 'anonymous':
      return undefined;
    case 'root':
      return { kind: 'root' };
    case 'user':
    case 'temporary':
    case 'service-account':
      return principal.subject;
    default:
      return principal satisfies never;
  }
}

/** What a person recognises: the name of the user, what the provider calls them, the access key of root, `root` for the keys of root. */
export function displayNameOf(principal: Exclude<Principal, { readonly kind: 'anonymous' }>): string {
  const subject = subjectOf(principal);
  if (subject?.kind === 'user') return subject.name;
  if (subject?.kind === 'federated') return subject.displayName;
  return principal.kind === 'root' ? principal.accessKey : 'root';
}

/** There are no accounts here; clients want twelve digits. */
export const accountId = '000000000000';

/**
 * The name under which clients ask for a provider with a role policy; the same as MinIO's, so that clients' settings stay.
 * The region is '' where none was set.
 */
export function roleArn(region: string, clientId: string): string {
  return `arn:minio:iam:${region}::role/${roleId(clientId)}`;
}

/** Whether this ARN names the role of this client, in whichever region: a store that gets a region keeps its clients. */
export function namesRoleOf(arn: string, clientId: string): boolean {
  return /^arn:minio:iam:[^:]*::role\/(.+)$/.exec(arn)?.[1] === roleId(clientId);
}

function roleId(clientId: string): string {
  return createHash('sha1').update(clientId).digest('base64url');
}
