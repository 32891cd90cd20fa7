import { type Answer, type AnswerBody } from '../http/contract/request.ts';
import type { Abortion, ObjectInfo } from '../objects/contract/object-layer.ts';

const empty: AnswerBody = { kind: 'empty' };

export function xmlAnswer(document: string, headers: Readonly<Record<string, string>> = {}, status = 200): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml', ...headers },
    body: { kind: 'bytes', bytes: Buffer.from(document) },
  };
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: empty };
}

/**
 * Returns the headers with the version that a write created, and with its expiration. As in S3, a write into a bucket with suspended
 * versioning, whose version is `null`, names none.
 */
export function createdHeaders({
  versionId,
  expiration,
}: Pick<ObjectInfo, 'versionId' | 'expiration'>): Record<string, string> {
  return {
    ...(versionId !== undefined && versionId !== 'null' && { 'x-amz-version-id': versionId }),
    ...(expiration && { 'x-amz-expiration': expirationHeader(expiration) }),
  };
}

/**
 * Writes the value of `x-amz-expiration`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export function expirationHeader({ date, ruleId }: NonNullable<ObjectInfo['expiration']>): string {
  return `expiry-date="${date.toUTCString()}", rule-id="${encodeURIComponent(ruleId)}"`;
}

/** Returns the headers with the time when a lifecycle rule aborts an upload. */
export function abortionHeaders(abortion: Abortion | undefined): Record<string, string> {
  if (abortion === undefined) return {};
  return {
    'x-amz-abort-date': abortion.date.toUTCString(),
    'x-amz-abort-rule-id': encodeURIComponent(abortion.ruleId),
  };
}

/** Returns the header with the version of the source of a copy; none where its bucket never had versions. */
export function sourceVersion({ sourceVersionId }: { readonly sourceVersionId?: string }): Record<string, string> {
  return sourceVersionId === undefined ? {} : { 'x-amz-copy-source-version-id': sourceVersionId };
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}

/** Each XML document of this server begins with these bytes. XML allows whitespace only after them. */
const xmlDeclaration = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n');

/**
 * Returns an answer that may take minutes, for operations whose clients expect that an error may follow the status 200.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export function slowAnswer(work: Promise<Answer>, onError: (error: unknown) => Answer): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: { kind: 'slow', early: xmlDeclaration, result: work.catch(onError) },
  };
}

export function versionHeader({ versionId }: { readonly versionId?: string }): Record<string, string> {
  return versionId === undefined ? {} : { 'x-amz-version-id': versionId };
}
