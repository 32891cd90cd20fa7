import type { AuthenticatedRequest, IncomingRequest } from './incoming-request.ts';
import type { StoredCredentials } from './principal.ts';

/** Where the authenticator finds credentials: `Access` is one. */
export interface CredentialSource {
  credentials(accessKey: string): Promise<StoredCredentials | undefined>;

  /** Whether a session token was issued here and is merely too old, so that the client learns to fetch new credentials. */
  issuedButExpired?(accessKey: string, sessionToken: string): Promise<boolean>;
}

export interface AuthenticatorOptions {
  readonly credentials: CredentialSource;
  /** The region that signatures must name; without it any is good. */
  readonly region?: string;
  readonly clock?: () => Date;
}

/** Rejects with the S3Error that tells the client what was wrong with its signature, key, token or clock. */
export type Authenticate = (request: IncomingRequest) => Promise<AuthenticatedRequest>;

export function createAuthenticator(_options: AuthenticatorOptions): Authenticate {
  throw new Error('not yet');
}
