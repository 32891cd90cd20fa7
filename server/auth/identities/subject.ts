import { z } from 'zod';
import { claimAt } from '../../../platform/openid/claims.ts';
import { matches, parsePattern } from '../../../protocol/policy/glob.ts';

/**
 * What policies can be attached to. `claim`: everyone whose token of that provider has the claim with a value that fits; in the
 * value `*` and `?` are wild, so that `sub` of a Kubernetes token can stand for a whole namespace.
 */
export const attachmentTarget = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('user'), name: z.string() }),
  z.object({ kind: z.literal('group'), name: z.string() }),
  /** By distinguished name, normalized. */
  z.object({ kind: z.literal('ldap-user'), name: z.string() }),
  z.object({ kind: z.literal('ldap-group'), name: z.string() }),
  z.object({ kind: z.literal('claim'), provider: z.string(), claim: z.string(), value: z.string() }),
]);

export type AttachmentTarget = z.infer<typeof attachmentTarget>;

/** The parts of its record's key. */
export function partsOf(target: AttachmentTarget): readonly string[] {
  if (target.kind !== 'claim') return [target.kind, target.name];
  return [target.kind, target.provider, target.claim, target.value];
}

export function describeTarget(target: AttachmentTarget): string {
  switch (target.kind) {
    case 'user':
      return `the user ${target.name}`;
    case 'group':
      return `the group ${target.name}`;
    case 'ldap-user':
      return `the LDAP user ${target.name}`;
    case 'ldap-group':
      return `the LDAP group ${target.name}`;
    case 'claim':
      return `the claim ${target.claim}=${target.value} of ${target.provider}`;
    default:
      return target satisfies never;
  }
}

/** Whether the claims have what the target names; a list fits where one of its texts does, and a path leads into claims. */
export function claimFits(
  target: Extract<AttachmentTarget, { kind: 'claim' }>,
  claims: Readonly<Record<string, unknown>>,
): boolean {
  const value = claimAt(claims, target.claim);
  const pattern = parsePattern(target.value);
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.some((one) => typeof one === 'string' && matches(pattern, one));
}

const federated = z.object({
  kind: z.literal('federated'),
  /** Who vouches: an OpenID provider, a directory, an authority that signs client certificates, a plugin. */
  source: z.enum(['openid', 'ldap', 'certificate', 'custom']),
  /** The name of its configuration, e.g. `PRIMARY_IAM`. */
  provider: z.string(),
  /** By which everything that the person owns is found; OpenID: base64url(SHA-256("openid:" sub ":" iss)), LDAP: the DN. */
  parent: z.string(),
  /** What a person recognises: preferred_username, email or sub. */
  displayName: z.string(),
  /** As the provider itself knows the person: `sub` for OpenID. For the check whether they still exist. */
  subjectId: z.string().optional(),
  /** Names of policies from the claim, the role or the certificate; those that no longer exist allow nothing. */
  policies: z.array(z.string()),
  /** What is attached to these counts too, as it is at each request. */
  targets: z.array(attachmentTarget),
  /** Claims for policy variables (`jwt:…`, `ldap:…`). */
  claims: z.record(z.string(), z.unknown()),
});

/** Whose rights credentials carry, as it is kept beside them. */
export const subjectSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('root') }),
  z.object({ kind: z.literal('user'), name: z.string() }),
  federated,
]);

export type Subject = z.infer<typeof subjectSchema>;
export type FederatedSubject = z.infer<typeof federated>;

/**
 * By which what a subject owns is found: temporary credentials and service accounts. What names a federated person is a hash, a DN
 * (which has an `=` after letters and digits alone) or has a prefix of its own (`tls:`, `custom:`): never `root`, never `user:`.
 */
export function ownerOf(subject: Subject): string {
  switch (subject.kind) {
    case 'root':
      return 'root';
    case 'user':
      return `user:${subject.name}`;
    case 'federated':
      return subject.parent;
    default:
      return subject satisfies never;
  }
}

/** As MinIO's clients name the owner: the access key of a user, the hash or DN of a federated person. */
export function parentName(subject: Subject, rootUser: string): string {
  if (subject.kind === 'root') return rootUser;
  return subject.kind === 'user' ? subject.name : subject.parent;
}
