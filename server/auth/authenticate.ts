import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { KnownAuthorizations } from '../../protocol/sigv4/authorization-fields.ts';
import { parseAuthorization } from '../../protocol/sigv4/parse-authorization.ts';
import type { SignatureClaim, SignedRequest } from '../../protocol/sigv4/signed-request.ts';
import { SigningKeys } from '../../protocol/sigv4/signing-key.ts';
import { type Verification, type VerifiedSignature, verifySignature } from '../../protocol/sigv4/verify-signature.ts';
import type { Principal, StoredCredentials } from './principal.ts';
import type { BodySource } from '../objects/bodies/body-source.ts';
import { verifiedBody, type VerifiedBody } from './verified-body.ts';

/** Compares in a time that tells nothing of either but its length, which everyone knows of keys and tokens. */
function equalSecrets(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** Where the authenticator finds credentials: `Access` is one. */
export interface CredentialSource {
  credentials(accessKey: string): Promise<StoredCredentials | undefined>;

  /** Whether a session token was issued here and is merely too old, so that the client learns to fetch new credentials. */
  issuedButExpired?(accessKey: string, sessionToken: string): Promise<boolean>;

  /** Root credentials of before a rotation: good where those of now are not what a request was signed with. */
  formerRoot?(accessKey: string): Promise<StoredCredentials | undefined>;
}

export interface AuthenticatorOptions {
  readonly credentials: CredentialSource;
  /** The region that signatures must name; without it any is good. */
  readonly region?: string;
  readonly clock?: () => Date;
}

/** A request with its headers as Node parsed them and a body that was not read. */
interface UnverifiedRequest extends SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: BodySource;
}

/** A request whose signature holds. */
export interface AuthenticatedRequest extends VerifiedBody {
  readonly principal: Principal;
}

/** Rejects with the S3Error that tells the client what was wrong with its signature, key, token or clock. */
export type Authenticate = (
  request: UnverifiedRequest,
  /** With those that a presigned URL carries in its query: what they say of the body holds as well. */
  headers?: IncomingHttpHeaders,
) => Promise<AuthenticatedRequest>;

/** From a request to who sends it, by Signature Version 4 in the header or the query; anonymous without one. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const verify = createSenderCheck(options);
  return async (request, headers = request.headers) => {
    const sender = await verify(request, { services: ['s3'], ...regionRule(request, options.region) });
    if (sender === undefined) return { principal: { kind: 'anonymous' }, ...verifiedBody(request, headers, undefined) };
    return { principal: sender.principal, ...verifiedBody(request, headers, sender.signature) };
  };
}

interface Sender {
  readonly principal: Principal;
  readonly signature: VerifiedSignature;
}

/** Rejects as `Authenticate` does; undefined where the request carries no signature. The body is not looked at. */
export type SenderCheck = (
  request: SignedRequest,
  rules: Pick<Verification, 'services' | 'region' | 'allowEmptyRegion' | 'bodyHash'>,
) => Promise<Sender | undefined>;

export function createSenderCheck({ credentials: source, ...options }: AuthenticatorOptions): SenderCheck {
  const clock = options.clock ?? (() => new Date());
  const signingKeys = new SigningKeys();
  const known = new KnownAuthorizations();
  return async (request, rules) => {
    const claim = parseAuthorization(request, known);
    if (claim === undefined) return undefined;
    const found = await source.credentials(claim.accessKey);
    const credentials = found ?? (await source.formerRoot?.(claim.accessKey)) ?? (await refuseUnknown(source, claim));
    const by = ({ secretKey }: StoredCredentials) =>
      verifySignature(request, claim, secretKey, { now: clock(), ...rules, signingKeys });
    const sender = await verified(source, credentials, by);
    checkSessionToken(claim, sender.credentials);
    return { principal: sender.credentials.principal, signature: sender.signature };
  };
}

/** By the credentials, or where they are root's by those of before a rotation that is under way. */
async function verified(
  source: CredentialSource,
  credentials: StoredCredentials,
  by: (credentials: StoredCredentials) => VerifiedSignature,
): Promise<{ readonly credentials: StoredCredentials; readonly signature: VerifiedSignature }> {
  try {
    return { credentials, signature: by(credentials) };
  } catch (error) {
    const rotates =
      credentials.principal.kind === 'root' && error instanceof S3Error && error.code === 'SignatureDoesNotMatch';
    const former = rotates ? await source.formerRoot?.(credentials.accessKey) : undefined;
    if (former === undefined) throw error;
    return { credentials: former, signature: by(former) };
  }
}

/** Admin clients know no region, and GetBucketLocation is how S3 clients learn it. */
function regionRule(request: SignedRequest, region: string | undefined) {
  const asksForRegion = request.method === 'GET' && /(?:^|&)location(?:=|&|$)/.test(request.rawQuery);
  return {
    allowEmptyRegion: request.rawPath.startsWith('/minio/'),
    ...(region === undefined || asksForRegion ? {} : { region }),
  };
}

async function refuseUnknown(source: CredentialSource, claim: SignatureClaim): Promise<never> {
  const { accessKey, sessionToken } = claim;
  if (sessionToken !== undefined && (await source.issuedButExpired?.(accessKey, sessionToken))) {
    throw new S3Error('ExpiredToken', 'The temporary credentials have expired; get new ones.');
  }
  throw new S3Error('InvalidAccessKeyId', undefined, { details: { AWSAccessKeyId: accessKey.slice(0, 128) } });
}

/** After the signature: who does not know the secret learns nothing about the token. */
function checkSessionToken(claim: SignatureClaim, credentials: StoredCredentials): void {
  const { sessionToken: sent } = claim;
  const { sessionToken: stored } = credentials;
  if (sent === undefined && stored === undefined) return;
  if (sent === undefined) {
    throw new S3Error(
      'InvalidTokenId',
      'These are temporary credentials: requests must carry their session token (X-Amz-Security-Token).',
    );
  }
  if (stored === undefined || !equalSecrets(sent, stored)) throw new S3Error('InvalidTokenId');
}
