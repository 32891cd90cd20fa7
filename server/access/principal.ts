import type { PolicyDocument } from '../../protocol/policy/document.ts';

/** Who sends a request, once its signature is verified. Users and service accounts come with the identity issue. */
export type Principal =
  { readonly kind: 'anonymous' } | { readonly kind: 'root'; readonly accessKey: string } | TemporaryPrincipal;

/** Credentials bought with a web identity token. */
export interface TemporaryPrincipal {
  readonly kind: 'temporary';
  readonly accessKey: string;
  /** The person behind it: base64url(SHA-256("openid:" sub ":" iss)). */
  readonly parent: string;
  /** The name of the provider's configuration, e.g. `PRIMARY_IAM`. */
  readonly provider: string;
  /** What a person recognises: preferred_username, email or sub. */
  readonly displayName: string;
  /** Names of the policies from the claim; those that no longer exist allow nothing. */
  readonly policies: readonly string[];
  readonly sessionPolicy?: PolicyDocument;
  /** Claims for policy variables (`jwt:…`). */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiration: Date;
}

/** What is asked for: an action (`s3:GetObject`, `admin:ServerInfo`) on a resource (`bucket/key`, `bucket`, `''` for admin). */
export interface AccessRequest {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  /** Condition keys of the request, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
}

/** The reason goes to the log and to admin tools, never to the caller. */
export type Decision =
  { readonly kind: 'allow'; readonly reason: string } | { readonly kind: 'deny'; readonly reason: string };

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

  authorize(request: AccessRequest): Promise<Decision>;
}
