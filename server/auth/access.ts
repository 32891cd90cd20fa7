import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import {
  KnownAuthorizations,
  type SignatureClaim,
  parseAuthorization,
} from '../../protocol/sigv4/parse-authorization.ts';
import { SigningKeys } from '../../protocol/sigv4/signing-key.ts';
import { type SignedRequest } from '../../protocol/sigv4/signed-request.ts';
import { type Verification, type VerifiedSignature, verifySignature } from '../../protocol/sigv4/verify-signature.ts';
import type { Principal, StoredCredentials, Access, AccessRequest } from './principal.ts';
import type { BodySource } from '../objects/contract/body-source.ts';
import { hasBody, verifiedBody, type VerifiedBody } from './verified-body.ts';
import { timingSafeEqual } from '../../protocol/timing-safe-equal.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import type { IdentityReader, Identities } from './identities/identities.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import type { Subject } from './identities/subject.ts';
import { authorize, explainDecision, type ExplainedDecision, type PolicySources } from './authorize.ts';
import { createFormerRoot, rootCredentials, sessionTokenKey, type RootCredentials } from './root-credentials.ts';
import { createTemporaryCredentials, type TemporaryCredentialsStore } from './temporary-credentials.ts';
import { isStoreUnavailable } from '../store/store-error.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/** The credentials that the authenticator accepts. `Access` implements it. */
interface CredentialSource {
  credentials(accessKey: string): Promise<StoredCredentials | undefined>;

  /** Reports whether this server issued the session token and the token has expired. The client then learns to fetch new credentials. */
  issuedButExpired?(accessKey: string, sessionToken: string): Promise<boolean>;

  /**
   * Returns the root credentials that were valid before a rotation. The authenticator tries them when a signature does not match the
   * current ones.
   */
  formerRoot?(accessKey: string): Promise<StoredCredentials | undefined>;
}

export interface AuthenticatorOptions {
  readonly credentials: CredentialSource;
  /** The region that signatures must name; any region is accepted if it is undefined. */
  readonly region?: string;
  /** The requests of S3 that may be signed by version 2: none, presigned URLs and forms (the default), or all. */
  readonly signatureV2?: SignatureV2Rule;
  readonly clock?: () => Date;
}

type SignatureV2Rule = 'off' | 'presigned' | 'on';

/** A request with its headers as Node parsed them and a body that is still unread. */
interface UnverifiedRequest extends SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: BodySource;
  /** The addressing of buckets by the Host; `bucket` is the one that it names. */
  readonly hostStyle?: { readonly kind: string; readonly bucket?: string } | undefined;
}

/** A request with a verified signature, or an anonymous one. */
export interface AuthenticatedRequest extends VerifiedBody {
  readonly principal: Principal;
}

/** Rejects with an S3Error that names what is wrong with the signature, key, token or clock. */
export type Authenticate = (
  request: UnverifiedRequest,
  /** The headers together with those that a presigned URL carries in its query. They describe the body as well. */
  headers?: IncomingHttpHeaders,
) => Promise<AuthenticatedRequest>;

/**
 * Returns a function that verifies the signature of a request, from its header or its query. A request without a signature is anonymous.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const verify = createCallerVerifier(options);
  return async (request, headers = request.headers) => {
    const sender = await verify(request, rulesOf(request, options, headers));
    const { body, size, trailing } = verifiedBody(request, headers, sender?.signature);
    return { principal: sender?.principal ?? anonymous, body, size, trailing };
  };
}

interface VerifiedCaller {
  readonly principal: Principal;
  /** Undefined for version 2, which covers no body. */
  readonly signature?: VerifiedSignature;
}

/** The rules for signatures of version 2. Without `signatureV2` they are refused. */
interface RulesOfVersion2 {
  readonly signatureV2?: SignatureV2Rule;
  /** The bucket that the host names. */
  readonly bucket?: string | undefined;
}

/** Rejects like `Authenticate`; resolves with undefined if the request has no signature. It does not read the body. */
export type CallerVerifier = (
  request: SignedRequest,
  rules: Pick<Verification, 'services' | 'region' | 'allowEmptyRegion' | 'bodyHash'> & RulesOfVersion2,
) => Promise<VerifiedCaller | undefined>;

export function createCallerVerifier({ credentials: source, ...options }: AuthenticatorOptions): CallerVerifier {
  const clock = options.clock ?? (() => new Date());
  const signingKeys = new SigningKeys();
  const known = new KnownAuthorizations();
  return async (request, rules) => {
    const claim = parseAuthorization(request, known);
    if (claim === undefined) return undefined;
    if (claim.kind === 'version-2') {
      const allowed = claim.place === 'query' ? ['presigned', 'on'] : ['on'];
      if (!allowed.includes(rules.signatureV2 ?? 'off')) throw new S3Error('InvalidRequest', unsupportedMechanism);
      const claimOfVersion2 = (await import('../../protocol/sigv2/parse-authorization-v2.ts')).parseAuthorizationV2(
        request,
      );
      const { verifySignatureV2 } = await import('../../protocol/sigv2/verify-signature-v2.ts');
      const { credentials } = await verified(source, claimOfVersion2, ({ secretKey }) =>
        verifySignatureV2(request, claimOfVersion2, secretKey, { now: clock(), bucket: rules.bucket }),
      );
      return { principal: credentials.principal };
    }
    const { services, region, allowEmptyRegion, bodyHash } = rules;
    const verification = { now: clock(), services, region, allowEmptyRegion, bodyHash, signingKeys };
    const { credentials, signature } = await verified(source, claim, ({ secretKey }) =>
      verifySignature(request, claim, secretKey, verification),
    );
    return { principal: credentials.principal, signature };
  };
}

/** The text of AWS where version 2 is refused. */
export const unsupportedMechanism =
  'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.';

/** The part of a claim that finds the credentials. */
type ClaimedCredentials = Pick<SignatureClaim, 'accessKey' | 'sessionToken'>;

/** Finds the credentials of a claim, and verifies signature and session token with them. */
export async function verified<Signature>(
  source: CredentialSource,
  claim: ClaimedCredentials,
  by: (credentials: StoredCredentials) => Signature,
): Promise<{ readonly credentials: StoredCredentials; readonly signature: Signature }> {
  const found = await source.credentials(claim.accessKey);
  const credentials = found ?? (await source.formerRoot?.(claim.accessKey)) ?? (await throwUnknownKey(source, claim));
  let sender;
  try {
    sender = { credentials, signature: by(credentials) };
  } catch (error) {
    const former = await rotatedRoot(source, credentials, error);
    if (former === undefined) throw error;
    sender = { credentials: former, signature: by(former) };
  }
  checkSessionToken(claim, sender.credentials);
  return sender;
}

/** Returns the credentials of root from before a rotation, where `error` says that the current ones did not sign the request. */
async function rotatedRoot(
  source: CredentialSource,
  { principal, accessKey }: StoredCredentials,
  error: unknown,
): Promise<StoredCredentials | undefined> {
  const differs = error instanceof S3Error && error.code === 'SignatureDoesNotMatch';
  return differs && principal.kind === 'root' ? source.formerRoot?.(accessKey) : undefined;
}

function isAdmin({ rawPath, hostStyle }: UnverifiedRequest): boolean {
  return rawPath.startsWith('/minio/') && hostStyle === undefined;
}

const anonymous: Principal = { kind: 'anonymous' };

const services = ['s3'] as const;

/**
 * The SHA-256 of no bytes. A signature covers it where a request has neither a body nor `x-amz-content-sha256`.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
const hashOfNothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Admin clients do not know the region and sign by version 4, and S3 clients call GetBucketLocation to learn the region. */
function rulesOf(
  request: UnverifiedRequest,
  options: AuthenticatorOptions,
  headers: IncomingHttpHeaders,
): Parameters<CallerVerifier>[1] {
  const admin = isAdmin(request);
  const asksForRegion = request.method === 'GET' && /(?:^|&)location(?:=|&|$)/.test(request.rawQuery);
  return {
    services,
    region: asksForRegion ? undefined : options.region,
    allowEmptyRegion: admin,
    signatureV2: admin ? 'off' : (options.signatureV2 ?? 'presigned'),
    bucket: request.hostStyle?.bucket,
    ...(hasBody(headers) ? {} : { bodyHash: hashOfNothing }),
  };
}

async function throwUnknownKey(source: CredentialSource, claim: ClaimedCredentials): Promise<never> {
  const { accessKey, sessionToken } = claim;
  if (sessionToken !== undefined && (await source.issuedButExpired?.(accessKey, sessionToken))) {
    throw new S3Error('ExpiredToken', 'The temporary credentials have expired; get new ones.');
  }
  throw new S3Error('InvalidAccessKeyId', undefined, { details: { AWSAccessKeyId: accessKey.slice(0, 128) } });
}

/** Runs after the signature check, so that a caller without the secret key learns nothing about the token. */
function checkSessionToken(claim: ClaimedCredentials, credentials: StoredCredentials): void {
  const { sessionToken: sent } = claim;
  const { sessionToken: stored } = credentials;
  if (sent === undefined && stored === undefined) return;
  if (sent === undefined) {
    throw new S3Error(
      'InvalidTokenId',
      'These are temporary credentials: requests must carry their session token (X-Amz-Security-Token).',
    );
  }
  if (stored === undefined || !timingSafeEqual(sent, stored)) throw new S3Error('InvalidTokenId');
}

/** Reports whether the error says that records or keys are unavailable now, so that a later attempt may succeed. */
export function isUnavailable(error: unknown): boolean {
  return isStoreUnavailable(error) || (error instanceof KeyServiceError && error.code === 'unavailable');
}

/** Finds policy documents by name. */
export interface PolicySource {
  get(name: string): Promise<PolicyDocument | undefined>;
}

/** Returns stored and built-in policies. */
export function policiesOf(identities: Pick<IdentityReader, 'policy'>): PolicySource {
  return { get: async (name) => (await identities.policy(name))?.document };
}

interface AccessOptions extends PolicySources {
  readonly records: SealedRecordStore;
  readonly root: RootCredentials;
  /** The file with the root credentials that were valid before a rotation. */
  readonly formerRootFile?: string;
  readonly identities: Identities;
  readonly clock?: () => Date;
}

/** Authentication and authorization for every API, and the store of temporary credentials for STS. */
export interface AccessService extends Required<Access>, Required<CredentialSource> {
  readonly identities: Identities;
  readonly temporary: TemporaryCredentialsStore;
  /** Decides like `authorize` and adds the result of each statement of each policy. For administrators only. */
  explain(request: AccessRequest): Promise<ExplainedDecision>;
}

export function createAccess(options: AccessOptions): AccessService {
  const { identities } = options;
  const clock = options.clock ?? (() => new Date());
  const root = rootCredentials(options.root);
  const temporary = createTemporaryCredentials({
    records: options.records,
    tokenKey: sessionTokenKey(options.root),
    clock,
  });
  return {
    identities,
    temporary,
    async credentials(accessKey) {
      if (accessKey === root.accessKey) return root;
      const found =
        (await temporary.find(accessKey)) ??
        (await ofServiceAccount(identities, accessKey, clock())) ??
        (await ofUser(identities, accessKey));
      // Credentials of a user end with the user, and they do not work while the user is disabled.
      return found !== undefined && (await isActive(identities, found)) ? found : undefined;
    },
    formerRoot: createFormerRoot(options.formerRootFile, clock),
    issuedButExpired: (accessKey, sessionToken) => temporary.issuedButExpired(accessKey, sessionToken),
    authorize: (request) => authorize(request, identities, options),
    explain: (request) => explainDecision(request, identities, options),
  };
}

async function ofServiceAccount(
  identities: Identities,
  accessKey: string,
  now: Date,
): Promise<StoredCredentials | undefined> {
  const account = await identities.serviceAccount(accessKey);
  if (account === undefined || account.status === 'disabled') return undefined;
  const { secretKey, subject, policy, expiration } = account;
  if (expiration !== undefined && expiration <= now.getTime()) return undefined;
  return {
    accessKey,
    secretKey,
    principal: {
      kind: 'service-account',
      accessKey,
      subject,
      ...(policy === undefined ? {} : { inlinePolicy: parsePolicyDocument(policy) }),
      ...(expiration === undefined ? {} : { expiration: new Date(expiration) }),
    },
  };
}

async function ofUser(identities: Identities, accessKey: string): Promise<StoredCredentials | undefined> {
  const user = await identities.user(accessKey);
  if (user === undefined) return undefined;
  const subject: Subject = { kind: 'user', name: accessKey };
  return { accessKey, secretKey: user.secretKey, principal: { kind: 'user', accessKey, subject } };
}

async function isActive(identities: Identities, { principal }: StoredCredentials): Promise<boolean> {
  if (principal.kind === 'anonymous' || principal.kind === 'root' || principal.subject.kind !== 'user') return true;
  return (await identities.user(principal.subject.name))?.status === 'enabled';
}
