import type { FederatedSubject } from '../auth/identities/subject.ts';

/** The owner of an access key in the archive of another server, which knew the user by a token of an OpenID provider. */
export interface ArchivedUser {
  /** The name of the user in the archive: base64url(SHA-256("openid:" sub ":" iss)). */
  readonly parent: string;
  /** The claims of the token with which the key was made. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The policies of the last sign-in, if the archive has them. */
  readonly policies?: readonly string[];
}

/** Finds the users of an archive at the OpenID providers of this server. */
export interface ArchivedUsers {
  /** Rejects with an `IdentityError` that says what is missing here. */
  subjectOf(user: ArchivedUser): Promise<FederatedSubject>;
}
