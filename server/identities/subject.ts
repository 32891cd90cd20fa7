import { z } from 'zod';
import { attachmentTarget } from './attachment-target.ts';

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
