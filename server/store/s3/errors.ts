import { isMarkedAsS3, saysAbsent } from '../../../protocol/s3/s3-answer.ts';
import { noAnswer, StoreError } from '../store-error.ts';

/** The failure of an attempt at another S3, classified by what the caller does next. */
export type S3Failure =
  /** That S3 itself says that there is no such object or upload. */
  | { readonly kind: 'absent'; readonly code: string }
  /** `If-Match` or `If-None-Match` did not hold. */
  | { readonly kind: 'condition'; readonly code: string }
  /** The object ends before the range. */
  | { readonly kind: 'range'; readonly code: string }
  | { readonly kind: 'full'; readonly code: string; readonly advice: string }
  /** A temporary failure. The server may have asked to wait for `afterMs`. */
  | { readonly kind: 'passing'; readonly code: string; readonly afterMs: number }
  /** A failure that lasts until an administrator acts. */
  | { readonly kind: 'refused'; readonly code: string; readonly advice: string };

const full = new Set(['XMinioStorageFull', 'InsufficientStorage', 'QuotaExceeded', 'XMinioAdminBucketQuotaExceeded']);

/** Error codes of temporary failures: a damaged or late body, a clock skew that the SDK corrects, a race. */
const passing = new Set([
  'BadDigest',
  'ConditionalRequestConflict',
  'IncompleteBody',
  'InternalError',
  'OperationAborted',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'SlowDownRead',
  'SlowDownWrite',
  'TooManyRequests',
  'XAmzContentSHA256Mismatch',
]);

const advice: Readonly<Record<string, string>> = {
  NoSuchBucket: 'make the bucket, or correct its name',
  AccessDenied:
    'allow the access key s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads',
  AllAccessDisabled: 'the bucket is closed; ask the administrator of that S3',
  InvalidAccessKeyId: 'that S3 does not know the access key; correct it',
  SignatureDoesNotMatch: 'the secret key is not the one of the access key, or a proxy changes the request; correct it',
  AuthorizationHeaderMalformed: 'the region is wrong; write the one of the bucket',
  PermanentRedirect: 'the bucket is in another region or at another endpoint; correct it',
  IllegalLocationConstraintException: 'the region is wrong; write the one of the bucket',
  InvalidBucketName: 'that S3 takes no bucket of such a name; correct it',
  MethodNotAllowed: 'what answers there is no S3; correct the endpoint',
};

/** Advice for a refused certificate, by the error code of Node. */
const ofCertificate: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired; have it renewed, and see that the clock here is right',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; see that the clocks are right',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name; correct the endpoint, or the certificate',
};
export const untrustedAdvice =
  'its certificate is not trusted; name the authority that signed it in SVC_STORE_BLOBS_S3_CA_FILE';
const ask = 'see what that S3 logged';

/**
 * Classifies an error of the SDK or of a socket. Returns undefined for any other error, which is a defect and must be rethrown. `timeoutMs`
 * is the timeout of the request, which the code of a late answer names.
 */
export function s3Failure(error: unknown, timeoutMs?: number): S3Failure | undefined {
  if (!isAnswered(error)) return undefined;
  const status = statusOf(error);
  if (status === undefined) return withoutAnswer(error, timeoutMs);
  const named = codeIn(error);
  const code = named ?? `HTTP ${status}`;
  if (full.has(code) || status === 507)
    return { kind: 'full', code, advice: 'free space or raise the quota of that bucket' };
  if (status >= 500 && status !== 501) return { kind: 'passing', code, afterMs: retryAfter(error) };
  if (status === 429 || passing.has(code)) return { kind: 'passing', code, afterMs: retryAfter(error) };
  // A gateway answers in place of that S3, without its document: that says nothing about objects, and may pass.
  if (!isOwnAnswer(error, status)) return { kind: 'passing', code, afterMs: retryAfter(error) };
  if (saysAbsent(status, named, error.$response?.headers ?? {})) return { kind: 'absent', code };
  if (code === 'PreconditionFailed') return { kind: 'condition', code };
  if (code === 'InvalidRange') return { kind: 'range', code };
  return { kind: 'refused', code, advice: advice[code] ?? ask };
}

/**
 * Returns a good answer that has the ETag of an object, as each S3 sends it.
 *
 * @throws Error for the answer of a gateway, which `s3Failure` takes for a temporary failure
 */
export function ofObject<T extends { readonly ETag?: string | undefined; readonly $metadata: Answered['$metadata'] }>(
  answer: T,
): T & { readonly ETag: string } {
  const { ETag } = answer;
  if (ETag !== undefined) return Object.assign(answer, { ETag });
  throw Object.assign(new Error('the answer has no ETag'), { $metadata: answer.$metadata });
}

/**
 * Returns a good answer to a write that has the ETag of these bytes, where it is an MD5. That of an object which the S3 encrypts may have the
 * form of one.
 *
 * @param md5 in base64
 * @throws Error for any other answer, which `s3Failure` takes for a temporary failure: the next attempt finds out what is there
 */
export function ofBytes<
  T extends {
    readonly ETag?: string | undefined;
    readonly ServerSideEncryption?: string | undefined;
    readonly $metadata: Answered['$metadata'];
  },
>(answer: T, md5: string): T & { readonly ETag: string } {
  const object = ofObject(answer);
  const hex = /^"?([0-9a-f]{32})"?$/i.exec(object.ETag)?.[1]?.toLowerCase();
  const isOther = hex !== undefined && hex !== Buffer.from(md5, 'base64').toString('hex');
  if (!isOther || answer.ServerSideEncryption !== undefined) return object;
  throw Object.assign(new Error('the answer has the ETag of other bytes'), { $metadata: answer.$metadata });
}

/**
 * Returns a page of a listing, which says whether another one follows, and where it begins.
 *
 * @param next the place of the next page in the answer
 *
 * @throws Error for the answer of a gateway, which `s3Failure` takes for a temporary failure
 */
export function ofListing<
  T extends { readonly IsTruncated?: boolean | undefined; readonly $metadata: Answered['$metadata'] },
>(page: T, next: string | undefined): T {
  if (page.IsTruncated === false || (page.IsTruncated === true && next !== undefined)) return page;
  throw Object.assign(new Error('the answer is no page of a listing'), { $metadata: page.$metadata });
}

/** Reports whether that S3 answered itself. A 404 without a document says it for a HEAD alone, which has none. */
function isOwnAnswer(error: Answered, status: number): boolean {
  if (codeIn(error) !== undefined) return true;
  const isHead = error.$method === undefined || error.$method === 'HEAD';
  return isMarkedAsS3(error.$response?.headers ?? {}) && (isHead || status !== 404);
}

/** Returns the code in the document of an answer. The SDK makes names up for answers without one. */
function codeIn({ Code }: Answered): string | undefined {
  return typeof Code === 'string' && Code !== '' ? Code : undefined;
}

function withoutAnswer(error: Error, timeoutMs: number | undefined): S3Failure | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (error.name === 'TimeoutError') return { kind: 'passing', code: noAnswer(timeoutMs), afterMs: 0 };
  if (code === undefined) return undefined;
  if (/CERT|^UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL/.test(code))
    return { kind: 'refused', code, advice: ofCertificate[code] ?? untrustedAdvice };
  // Node refuses an argument: a repetition would not help.
  if (code.startsWith('ERR_') && code !== 'ERR_STREAM_PREMATURE_CLOSE') return undefined;
  return { kind: 'passing', code, afterMs: 0 };
}

/** The fields that the SDK adds to its errors. */
interface Answered extends Error {
  /** Added by `S3Connection`. */
  readonly $method?: string | undefined;
  readonly Code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number | undefined };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
}

function isAnswered(error: unknown): error is Answered {
  return error instanceof Error && !(error instanceof StoreError);
}

function statusOf({ $metadata, $response }: Answered): number | undefined {
  return $metadata?.httpStatusCode ?? $response?.statusCode;
}

/** Reads the header as seconds. The other form, a date, would depend on two clocks. */
function retryAfter({ $response }: Answered): number {
  const seconds = Number($response?.headers?.['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
