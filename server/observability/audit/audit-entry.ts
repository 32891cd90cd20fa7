import { STATUS_CODES } from 'node:http';
import { apiName } from '../../http/contract/watched-request.ts';
import { type Principal, displayNameOf, subjectOf } from '../../auth/principal.ts';
import type { FinishedRequest, RecordedBearer, RecordedGrant } from '../../http/contract/request.ts';
import { parentName } from '../../auth/identities/subject.ts';
import { claimsWithoutSecrets, headersWithoutSecrets, queryWithoutSecrets } from './without-secrets.ts';

/** Who a request was from, or for. */
interface AuditIdentity {
  readonly kind: Principal['kind'];
  /** What a person recognises. */
  readonly name?: string;
  /** Of an OpenID provider, a directory or the like: its configuration. */
  readonly provider?: string;
  readonly source?: string;
  /** The policies that the claims, the role or the certificate gave. */
  readonly policies?: readonly string[];
}

/** Who asked STS for credentials, by what proves it; where it was not found right, at which provider. */
interface AuditBearer {
  readonly source: string;
  readonly provider: string;
  readonly issuer?: string;
  /** `sub`, a DN, the fingerprint of a certificate. */
  readonly subject?: string;
  readonly name?: string;
}

/** Credentials that STS made, and for whom. */
interface AuditGrant extends AuditIdentity {
  readonly accessKey: string;
  /** Whose they are, as `parentUser` of the requests that they will sign. */
  readonly parentUser: string;
  /** Those that count now: from the claim, the role or the certificate, and those attached. Root has none. */
  readonly policies: readonly string[];
  /** A policy of the session allows them less. */
  readonly narrowed: boolean;
  readonly roleArn?: string;
  readonly expiration: string;
}

/**
 * What happened, in the form of MinIO's audit log, version 1, so that what reads that reads this; `identity`, `decisions`,
 * `bearer` and `granted` are our own.
 *
 * @see https://min.io/docs/minio/linux/operations/monitoring/minio-logging.html
 */
export interface AuditEntry {
  readonly version: '1';
  readonly deploymentid: string;
  readonly time: string;
  readonly event: '';
  readonly trigger: 'incoming' | 'console';
  readonly api: {
    readonly name: string;
    readonly bucket?: string;
    readonly object?: string;
    readonly status: string;
    readonly statusCode: number;
    /** Bytes of HTTP, heads included. */
    readonly rx: number;
    readonly tx: number;
    readonly timeToFirstByte?: string;
    readonly timeToFirstByteInNS?: string;
    readonly timeToResponse: string;
    readonly timeToResponseInNS: string;
  };
  readonly remotehost: string;
  readonly requestID: string;
  readonly userAgent?: string;
  readonly requestPath: string;
  readonly requestHost?: string;
  readonly requestClaims?: Readonly<Record<string, unknown>>;
  readonly requestQuery?: Readonly<Record<string, string>>;
  readonly requestHeader: Readonly<Record<string, string>>;
  readonly responseHeader: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, unknown>>;
  readonly accessKey?: string;
  readonly parentUser?: string;
  readonly error?: string;
  readonly identity?: AuditIdentity;
  readonly bearer?: AuditBearer;
  readonly granted?: AuditGrant;
  readonly decisions?: readonly AuditDecision[];
}

/** What was asked of the policies, and which of their statements decided. */
interface AuditDecision {
  readonly action: string;
  readonly resource: string;
  readonly effect: 'allow' | 'deny';
  readonly reason: string;
}

export interface AuditOrigin {
  readonly deploymentId: string;
  readonly rootUser: string;
}

/**
 * Whether an answer shows that nothing encrypted was concerned. Otherwise the entry has no digests: they tell short contents, and the log is
 * readable. Answers of CompleteMultipartUpload may begin before it is known, and a copy's source may be encrypted though the copy is not.
 */
function isOfPlainObject({ operation, status, responseHeaders }: FinishedRequest): boolean {
  if (operation === 'CompleteMultipartUpload' || operation?.includes('Copy') === true) return false;
  const succeeded = status >= 200 && status < 300;
  return succeeded && !Object.keys(responseHeaders).some((name) => name.startsWith('x-amz-server-side-encryption'));
}

/** The entry of a request. It holds no secret: bodies never come here, and headers, queries and claims are cleaned. */
export function auditEntry(finished: FinishedRequest, origin: AuditOrigin): AuditEntry {
  const { request, principal, bucket, key, decisions, decisionsLeftOut, refusal } = finished;
  const digests = { digests: isOfPlainObject(finished) };
  const query = queryWithoutSecrets(request.rawQuery, digests);
  const tags = {
    ...(principal === undefined ? claimedAccessKey(request) : {}),
    ...(finished.outcome === 'answered' ? {} : { outcome: finished.outcome }),
    ...(decisionsLeftOut === 0 ? {} : { decisionsLeftOut }),
  };
  return {
    version: '1',
    deploymentid: origin.deploymentId,
    time: new Date(finished.startedAt).toISOString(),
    event: '',
    trigger: finished.room === 'console' ? 'console' : 'incoming',
    api: {
      name: finished.operation === undefined ? '' : apiName(finished.operation),
      ...(bucket === undefined || bucket === '' ? {} : { bucket }),
      ...(key === undefined || key === '' ? {} : { object: key }),
      ...statusOf(finished),
      rx: finished.received,
      tx: finished.sent,
      ...(finished.firstByteMs === undefined ? {} : nanoseconds('timeToFirstByte', finished.firstByteMs)),
      ...nanoseconds('timeToResponse', finished.ms),
    },
    remotehost: request.remoteAddress,
    requestID: request.requestId,
    ...(request.headers['user-agent'] === undefined ? {} : { userAgent: request.headers['user-agent'] }),
    requestPath: request.rawPath,
    ...(request.headers.host === undefined ? {} : { requestHost: request.headers.host }),
    ...claimsOf(principal, finished.bearer),
    ...(Object.keys(query).length === 0 ? {} : { requestQuery: query }),
    requestHeader: headersWithoutSecrets(request.headers, digests),
    responseHeader: headersWithoutSecrets(finished.responseHeaders, digests),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...senderOf(principal, origin.rootUser),
    ...(refusal === undefined ? {} : { error: `${refusal.code}: ${refusal.message}` }),
    ...(principal === undefined ? {} : { identity: identityOf(principal) }),
    ...broughtBy(finished.bearer),
    ...grantedTo(finished.granted, origin.rootUser),
    ...(decisions.length === 0
      ? {}
      : {
          decisions: decisions.map(({ action, resource, decision: { kind: effect, reason } }) => ({
            action,
            resource,
            effect,
            reason,
          })),
        }),
  };
}

/** Where nothing was answered, by the number that proxies have for it. */
function statusOf({ status, outcome }: FinishedRequest): Pick<AuditEntry['api'], 'status' | 'statusCode'> {
  if (outcome === 'canceled') return { status: 'Client Closed Request', statusCode: 499 };
  return { status: STATUS_CODES[status] ?? '', statusCode: status };
}

function nanoseconds<Name extends string>(name: Name, ms: number) {
  const count = String(Math.round(ms * 1_000_000));
  return { [name]: `${count}ns`, [`${name}InNS`]: count } as Record<Name | `${Name}InNS`, string>;
}

function senderOf(principal: Principal | undefined, rootUser: string): Pick<AuditEntry, 'accessKey' | 'parentUser'> {
  if (principal === undefined || principal.kind === 'anonymous') return {};
  if (principal.kind === 'root' || principal.kind === 'user') return { accessKey: principal.accessKey };
  return { accessKey: principal.accessKey, parentUser: parentName(principal.subject, rootUser) };
}

/** What somebody says they are whose signature was not right, or was not looked at. */
function claimedAccessKey({ headers, rawQuery }: FinishedRequest['request']): { readonly claimedAccessKey?: string } {
  const text = `${headers.authorization ?? ''}&${rawQuery}`;
  const claimed = /Credential=([\w.+=@-]{3,128}?)(?:\/|%2F)/i.exec(text)?.[1];
  return claimed === undefined ? {} : { claimedAccessKey: claimed };
}

function identityOf(principal: Principal): AuditIdentity {
  if (principal.kind === 'anonymous') return { kind: 'anonymous' };
  const subject = subjectOf(principal);
  const person =
    subject?.kind === 'federated'
      ? { provider: subject.provider, source: subject.source, policies: subject.policies }
      : undefined;
  return { kind: principal.kind, name: displayNameOf(principal), ...person };
}

function broughtBy(bearer: RecordedBearer | undefined): Pick<AuditEntry, 'bearer'> {
  if (bearer === undefined) return {};
  const { claims: _, ...who } = bearer;
  return { bearer: who };
}

function grantedTo(grant: RecordedGrant | undefined, rootUser: string): Pick<AuditEntry, 'granted'> {
  if (grant === undefined) return {};
  const { principal, policies, roleArn } = grant;
  const { accessKey, subject, sessionPolicy, expiration } = principal;
  return {
    granted: {
      ...identityOf(principal),
      ...(subject.kind === 'root' ? { name: rootUser } : {}),
      accessKey,
      parentUser: parentName(subject, rootUser),
      policies,
      narrowed: sessionPolicy !== undefined,
      ...(roleArn === undefined ? {} : { roleArn }),
      expiration: expiration.toISOString(),
    },
  };
}

/** The claims that policies may use, and those that decided. What names a secret stays out, whoever put it there. */
function claimsOf(
  principal: Principal | undefined,
  bearer: RecordedBearer | undefined,
): Pick<AuditEntry, 'requestClaims'> {
  if (bearer?.claims !== undefined) return { requestClaims: claimsWithoutSecrets(bearer.claims) };
  const subject = principal && subjectOf(principal);
  if (subject?.kind !== 'federated') return {};
  return { requestClaims: { ...claimsWithoutSecrets(subject.claims), parent: subject.parent } };
}
