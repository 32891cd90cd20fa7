import { z } from 'zod';
import { nameRecord } from '../../../protocol/json/name-record.ts';
import { hiddenCharacters } from '../../../platform/text/printable.ts';
import { claimAt } from '../../../platform/openid/claims.ts';
import { matches, parsePattern } from '../../../protocol/policy/glob.ts';

/**
 * The targets that policies can be attached to. `claim` matches each token of the provider with a matching value of the claim; `*` and `?`
 * in the value are wildcards, so that `sub` of a Kubernetes token can match a whole namespace.
 */
export const attachmentTarget = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('user'), name: z.string() }),
  z.object({ kind: z.literal('group'), name: z.string() }),
  /** The name is a normalized DN. */
  z.object({ kind: z.literal('ldap-user'), name: z.string() }),
  z.object({ kind: z.literal('ldap-group'), name: z.string() }),
  z.object({ kind: z.literal('claim'), provider: z.string(), claim: z.string(), value: z.string() }),
]);

export type AttachmentTarget = z.infer<typeof attachmentTarget>;

/** Returns the parts of the record's key. */
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

/** Reports whether the claims match the target. A list matches if one of its texts does; a path selects a nested claim. */
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
  /** The source of the identity: an OpenID provider, a directory, a certificate authority or a plugin. */
  source: z.enum(['openid', 'ldap', 'certificate', 'custom']),
  /** The name of the provider's configuration, e.g. `PRIMARY_IAM`. */
  provider: z.string(),
  /** The key under which the user's credentials are stored. OpenID: base64url(SHA-256("openid:" sub ":" iss)); LDAP: the DN. */
  parent: z.string(),
  /** The name that people recognise: preferred_username, email or sub. */
  displayName: z.string(),
  /** The provider's own ID of the user: `sub` for OpenID. The user status check needs it. */
  subjectId: z.string().optional(),
  /** Names of policies from the claim, the role or the certificate. Names of removed policies allow nothing. */
  policies: z.array(z.string()),
  /** The policies that are attached to these targets at each request count too. */
  targets: z.array(attachmentTarget),
  /** Claims for policy variables (`jwt:…`, `ldap:…`). */
  claims: nameRecord(z.string(), z.unknown()),
  /** Whether `claims` has all claims of a token. Absent in records of older servers, which kept the claims that many providers have. */
  claimsKept: z.enum(['all', 'part']).optional(),
});

/** The subject whose rights credentials have, as it is stored with them. */
export const subjectSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('root') }),
  z.object({ kind: z.literal('user'), name: z.string() }),
  federated,
]);

export type Subject = z.infer<typeof subjectSchema>;
export type FederatedSubject = z.infer<typeof federated>;

/**
 * Returns a name as logs, the audit log and clients show it: at most 256 characters, and none that controls a terminal or makes the name
 * look like another one. External users can often choose their names.
 */
export function printableName(name: string): string {
  return name
    .slice(0, 1_024)
    .replaceAll(hiddenCharacters, '')
    .trim()
    .slice(0, 256)
    .replace(/[\uD800-\uDBFF]$/, '');
}

/**
 * Returns the key under which temporary credentials and service accounts of a subject are stored. An external user has a hash, a DN (with
 * `=` after letters and digits) or a prefix of its own (`tls:`, `custom:`), so no name of an external user equals `root` or begins with
 * `user:`.
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

/** Returns the owner's name for MinIO clients: the access key of a user, the hash or DN of an external user. */
export function parentName(subject: Subject, rootUser: string): string {
  if (subject.kind === 'root') return rootUser;
  return subject.kind === 'user' ? subject.name : subject.parent;
}
