import { textOfHeader } from '../../../protocol/header-text.ts';
import { redactText } from '../../../platform/output/redact-secrets.ts';
import { STATUS_CODES } from 'node:http';
import { apiName, headersOfList } from '../../http/contract/request-audit.ts';
import { type SignatureKind, signatureKind } from '../../auth/condition-keys.ts';
import { type Principal, displayNameOf, subjectOf } from '../../auth/principal.ts';
import type { FinishedRequest, RecordedBearer, RecordedGrant } from '../../http/contract/request.ts';
import { parentName } from '../../auth/identities/subject.ts';
import { claimsWithoutSecrets, headersWithoutSecrets, queryWithoutSecrets } from './without-secrets.ts';

/** The identity that sent a request, or that received credentials. */
interface AuditIdentity {
  readonly kind: Principal['kind'];
  /** A name that people recognise. */
  readonly name?: string;
  /** The configuration of an OpenID provider, a directory or the like. */
  readonly provider?: string;
  readonly source?: string;
  /** The policies from the claims, the role or the certificate. */
  readonly policies?: readonly string[];
}

/** The proof that an STS request was sent with. Where it was refused, the provider that it named. */
interface AuditBearer {
  readonly source: string;
  readonly provider: string;
  readonly issuer?: string;
  /** `sub`, a DN, the fingerprint of a certificate. */
  readonly subject?: string;
  readonly name?: string;
}

/** Credentials that STS created, and their identity. */
interface AuditGrant extends AuditIdentity {
  readonly accessKey: string;
  /** The identity of the credentials, as `parentUser` of the requests that they sign. */
  readonly parentUser: string;
  /** The policies in effect: from the claim, the role or the certificate, and those attached. Root has none. */
  readonly policies: readonly string[];
  /** True where a session policy restricts them. */
  readonly narrowed: boolean;
  readonly roleArn?: string;
  readonly expiration: string;
}

/**
 * An audit entry in the form of MinIO's audit log, version 1, so that readers of that log can read it; `identity`, `decisions`,
 * `bearer`, `granted` and `signature` are Coffer's own.
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
    /** The objects of a request that names many in its body. `error` is Coffer's own. */
    readonly objects?: readonly { readonly objectName: string; readonly versionId?: string; readonly error?: string }[];
    readonly status: string;
    readonly statusCode: number;
    /** HTTP bytes, heads included. */
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
  /** The kind of signature. `claimed` says that it was not verified. Absent for an anonymous request, also where it has fields of a signature. */
  readonly signature?: SignatureKind & { readonly claimed?: true };
  readonly identity?: AuditIdentity;
  readonly bearer?: AuditBearer;
  readonly granted?: AuditGrant;
  readonly decisions?: readonly AuditDecision[];
}

/** The policy questions of a request, and the statements that decided them. */
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
 * Reports if an answer shows that no encrypted object was concerned. Otherwise the entry has no digests: they reveal short contents,
 * and the log is readable. Answers of CompleteMultipartUpload may begin before that is known, those of DeleteObject and RenameObject
 * do not show it, and a copy's source may be encrypted though the copy is not.
 */
function isOfPlainObject({ operation, status, responseHeaders }: FinishedRequest): boolean {
  if (operation !== undefined && /Copy|^(?:CompleteMultipartUpload|DeleteObject|RenameObject)$/.test(operation))
    return false;
  const succeeded = status >= 200 && status < 300;
  return (
    succeeded && !responseHeaders.some((text, at) => at % 2 === 0 && text.startsWith('x-amz-server-side-encryption'))
  );
}

/** Makes the entry of a request. It holds no secret: it has no bodies, and secrets are removed from headers, queries and claims. */
export function auditEntry(finished: FinishedRequest, origin: AuditOrigin): AuditEntry {
  const { request, principal, bucket, key, decisions, decisionsLeftOut, refusal } = finished;
  const digests = { digests: isOfPlainObject(finished) };
  const query = queryWithoutSecrets(request.rawQuery, digests);
  const tags = {
    ...(principal === undefined ? claimedAccessKey(request) : {}),
    ...(finished.outcome === 'answered' ? {} : { outcome: finished.outcome }),
    ...(decisionsLeftOut === 0 ? {} : { decisionsLeftOut }),
    ...(finished.refresh === true ? { refresh: true } : {}),
  };
  return {
    version: '1',
    deploymentid: origin.deploymentId,
    time: new Date(finished.startedAt).toISOString(),
    event: '',
    trigger: finished.api === 'console' ? 'console' : 'incoming',
    api: {
      name: finished.operation === undefined ? '' : apiName(finished.operation),
      ...(bucket === undefined || bucket === '' ? {} : { bucket }),
      ...(key === undefined || key === '' ? {} : { object: key }),
      ...objectsOf(finished),
      ...statusOf(finished),
      rx: finished.received,
      tx: finished.sent,
      ...(finished.firstByteMs === undefined ? {} : nanoseconds('timeToFirstByte', finished.firstByteMs)),
      ...nanoseconds('timeToResponse', finished.ms),
    },
    remotehost: request.remoteAddress,
    requestID: request.requestId,
    ...(request.headers['user-agent'] === undefined ? {} : { userAgent: textOfHeader(request.headers['user-agent']) }),
    requestPath: request.rawPath,
    ...(request.headers.host === undefined ? {} : { requestHost: request.headers.host }),
    ...claimsOf(principal, finished.bearer),
    ...(Object.keys(query).length === 0 ? {} : { requestQuery: query }),
    requestHeader: headersWithoutSecrets(request.headers, digests),
    responseHeader: headersWithoutSecrets(headersOfList(finished.responseHeaders), digests),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...senderOf(principal, origin.rootUser),
    ...signatureOf(finished),
    ...(refusal === undefined ? {} : { error: redactText(`${refusal.code}: ${refusal.message}`) }),
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

function objectsOf({ objects }: FinishedRequest): Pick<AuditEntry['api'], 'objects'> {
  if (objects === undefined) return {};
  return {
    objects: objects.map(({ key, versionId, refusal }) => ({
      objectName: key,
      ...(versionId !== undefined && { versionId }),
      ...(refusal !== undefined && { error: refusal }),
    })),
  };
}

/** The status of a request without an answer, as proxies number it. */
function statusOf({ status, outcome }: FinishedRequest): Pick<AuditEntry['api'], 'status' | 'statusCode'> {
  if (outcome === 'canceled') return { status: 'Client Closed Request', statusCode: 499 };
  return { status: STATUS_CODES[status] ?? '', statusCode: status };
}

function nanoseconds<Name extends string>(name: Name, ms: number) {
  const count = String(Math.round(ms * 1_000_000));
  return { [name]: `${count}ns`, [`${name}InNS`]: count } as Record<Name | `${Name}InNS`, string>;
}

function signatureOf({ signature: ofForm, request, principal }: FinishedRequest): Pick<AuditEntry, 'signature'> {
  if (principal?.kind === 'anonymous') return {};
  const signature = ofForm ?? signatureKind(request.headers, new URLSearchParams(request.rawQuery));
  if (signature === undefined) return {};
  return { signature: principal === undefined ? { ...signature, claimed: true } : signature };
}

function senderOf(principal: Principal | undefined, rootUser: string): Pick<AuditEntry, 'accessKey' | 'parentUser'> {
  if (principal === undefined || principal.kind === 'anonymous') return {};
  if (principal.kind === 'root' || principal.kind === 'user') return { accessKey: principal.accessKey };
  return { accessKey: principal.accessKey, parentUser: parentName(principal.subject, rootUser) };
}

/** The access key of a request whose signature was wrong or not checked. */
function claimedAccessKey({ headers, rawQuery }: FinishedRequest['request']): { readonly claimedAccessKey?: string } {
  const text = `${headers.authorization ?? ''}&${rawQuery}`;
  const claimed =
    /Credential=([\w.+=@-]{3,128}?)(?:\/|%2F)/i.exec(text)?.[1] ??
    /(?:^AWS |&AWSAccessKeyId=)([\w.+=@-]{3,128}?)(?:[:&]|$)/.exec(text)?.[1];
  return claimed === undefined ? {} : { claimedAccessKey: claimed };
}

function identityOf(principal: Principal): AuditIdentity {
  if (principal.kind === 'anonymous') return { kind: 'anonymous' };
  const subject = subjectOf(principal);
  const externalUser =
    subject?.kind === 'federated'
      ? { provider: subject.provider, source: subject.source, policies: subject.policies }
      : undefined;
  return { kind: principal.kind, name: displayNameOf(principal), ...externalUser };
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

/** The claims that policies may use, and those that decided. Values of secret names are left out, also where the provider sent them. */
function claimsOf(
  principal: Principal | undefined,
  bearer: RecordedBearer | undefined,
): Pick<AuditEntry, 'requestClaims'> {
  if (bearer?.claims !== undefined) return { requestClaims: claimsWithoutSecrets(bearer.claims) };
  const subject = principal && subjectOf(principal);
  if (subject?.kind !== 'federated') return {};
  return { requestClaims: { ...claimsWithoutSecrets(subject.claims), parent: subject.parent } };
}
