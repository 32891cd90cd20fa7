import type { StoredCredentials, TemporaryPrincipal } from '../access/principal.ts';

export interface WebIdentityRequest {
  /** The JWT: an access token or an ID token of the provider. */
  readonly token: string;
  /** Seconds, 900 to 31,536,000; the token's expiry bounds it. */
  readonly durationSeconds?: number;
  /** Inline session policy (JSON), of at most 2,048 characters. */
  readonly policy?: string;
  readonly roleArn?: string;
  /** The provider, where the caller knows it (console sign-in); otherwise role ARN and issuer choose it. */
  readonly providerId?: string;
  /** Bearer for the userinfo endpoint, where `claim_userinfo` is on and the token is an ID token. */
  readonly accessToken?: string;
}

export interface AssumedRole {
  readonly credentials: StoredCredentials & { readonly sessionToken: string; readonly principal: TemporaryPrincipal };
  readonly expiration: Date;
  readonly subject: string;
  readonly audience: string;
  /** The issuer of the token. */
  readonly issuer: string;
  readonly roleArn: string;
}

/** Errors with `StsError`, whose message is for the person who asked. */
export type AssumeRoleWithWebIdentity = (request: WebIdentityRequest) => Promise<AssumedRole>;
