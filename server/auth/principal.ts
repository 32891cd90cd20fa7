import type { StillUnknown } from '../../protocol/policy/could-allow.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { Subject } from './identities/subject.ts';
import { createHash } from 'node:crypto';
import { ownerId } from '../../protocol/s3/acl.ts';
import { ownerOf } from './identities/subject.ts';

/** The sender of a request, after its signature was verified. */
export type Principal =
  | { readonly kind: 'anonymous' }
  /** `former`: signed with the credentials from before a rotation. */
  | { readonly kind: 'root'; readonly accessKey: string; readonly former?: true }
  | { readonly kind: 'user'; readonly accessKey: string; readonly subject: Subject }
  | TemporaryPrincipal
  | ServiceAccountPrincipal;

export type AuthenticatedPrincipal = Exclude<Principal, { readonly kind: 'anonymous' }>;

/** Temporary credentials from STS. They have the rights of a subject, bounded by the session policy. */
export interface TemporaryPrincipal {
  readonly kind: 'temporary';
  readonly accessKey: string;
  readonly subject: Subject;
  readonly sessionPolicy?: PolicyDocument;
  readonly expiration: Date;
}

/** An access key for a program. It has the rights of its subject, bounded by its own policy. */
interface ServiceAccountPrincipal {
  readonly kind: 'service-account';
  readonly accessKey: string;
  readonly subject: Subject;
  readonly inlinePolicy?: PolicyDocument;
  readonly expiration?: Date;
}

/** An action (`s3:GetObject`, `admin:ServerInfo`) on a resource (`bucket/key`, `bucket`, `''` for admin). */
export interface AccessRequest {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  /** Condition keys of the request, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /** Allowed by default: a caller may do this for themselves unless a policy denies it, e.g. create an own access key. */
  readonly allowedByDefault?: boolean | undefined;
  /** Asks for the attributes of an object that the request creates: the ACL of the object that it replaces does not count. */
  readonly ofNewObject?: boolean | undefined;
  /** Asks whether the request could be allowed after the body is read. A caller without any right then sends no body. */
  readonly unknown?: StillUnknown | undefined;
}

/** The reason is for the log and admin tools, never for the caller. `explicit`: a statement denies it. */
export type Decision =
  | {
      readonly kind: 'allow';
      readonly reason: string;
      /**
       * The id of the object whose ACL allows it, or whose tags the policies asked for; '' for an absent one. No other object under the
       * key may be read or changed.
       */
      readonly objectId?: string | undefined;
    }
  | {
      readonly kind: 'deny';
      readonly reason: string;
      readonly explicit?: true;
      /** No policy allows the read, and no ACL could: the object does not exist. */
      readonly absent?: true;
    };

export interface StoredCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Requests with temporary credentials must carry it. */
  readonly sessionToken?: string;
  readonly principal: Principal;
}

/** Credentials and decisions for the S3, STS, admin and console APIs. */
export interface Access {
  /** Returns the credentials of an access key; undefined if there are none or they have expired. */
  credentials(accessKey: string): Promise<StoredCredentials | undefined>;

  /** Returns the root credentials from before a rotation, while they are valid. */
  formerRoot?(accessKey: string): Promise<StoredCredentials | undefined>;

  authorize(request: AccessRequest): Promise<Decision>;
}

/** Returns the subject whose rights the principal has; undefined for an anonymous one. */
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

/**
 * Returns the name that people recognise: that of the user, the provider's name of an external user, the access key of root, or `root` for
 * access keys of root.
 */
export function displayNameOf(principal: Exclude<Principal, { readonly kind: 'anonymous' }>): string {
  const subject = subjectOf(principal);
  if (subject?.kind === 'user') return subject.name;
  if (subject?.kind === 'federated') return subject.displayName;
  return principal.kind === 'root' ? principal.accessKey : 'root';
}

/**
 * Returns the canonical ID of a caller, which grants of ACLs name; undefined without credentials. It is the SHA-256 of `user:NAME`, or of
 * the hash or DN of an external user; `printf 'user:ann' | sha256sum` prints it.
 */
export function canonicalIdOf(principal: Principal): string | undefined {
  const subject = subjectOf(principal);
  if (subject === undefined) return undefined;
  return subject.kind === 'root' ? ownerId : idOfOwner(ownerOf(subject));
}

/** The IDs of the last owners, because ACLs and access logs need one for each request. A full cache is cleared. */
const ownerIds = new Map<string, string>();
const maxOwnerIds = 1_000;

function idOfOwner(owner: string): string {
  const known = ownerIds.get(owner);
  if (known !== undefined) return known;
  const id = createHash('sha256').update(owner).digest('hex');
  if (ownerIds.size >= maxOwnerIds) ownerIds.clear();
  ownerIds.set(owner, id);
  return id;
}

/** Coffer has no accounts, but clients expect twelve digits. */
export const accountId = '000000000000';

/**
 * Returns the ARN under which clients ask for a provider with a role policy. MinIO uses the same, so that settings of clients stay. The
 * region is '' if none is set.
 */
export function roleArn(region: string, clientId: string): string {
  return `arn:minio:iam:${region}::role/${roleId(clientId)}`;
}

/** Reports whether this ARN names the role of this client. The region does not count: clients keep working when a store gets a region. */
export function namesRoleOf(arn: string, clientId: string): boolean {
  return /^arn:minio:iam:[^:]*::role\/(.+)$/.exec(arn)?.[1] === roleId(clientId);
}

function roleId(clientId: string): string {
  return createHash('sha1').update(clientId).digest('base64url');
}
