import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { readActions, type S3Call, type Operation, readTagsActions } from '../operation.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { ObjectInfo, ReadOptions } from '../../objects/contract/object-layer.ts';
import { parseRange, resolveRange } from '../../objects/operations/byte-range.ts';
import { ifRangeHolds, readConditions, describingHeaders } from '../object-headers.ts';
import { customerKeyOf } from '../encryption-headers.ts';
import { header } from '../request.ts';
import { parsePartNumber } from '../multipart/upload-request.ts';
import { type ProxiedReadOptions, readElsewhere, wantsTags } from './read-elsewhere.ts';
import { legalHoldStatus } from '../../../protocol/s3/object-lock.ts';
import { writeTaggingHeader } from '../../../protocol/s3/tagging.ts';
import { hiddenHeader, type HiddenRight, rightsOfHidden } from '../../../protocol/s3/copies/copied-attributes.ts';

const overridable = [
  'content-type',
  'content-disposition',
  'content-encoding',
  'content-language',
  'cache-control',
  'expires',
] as const;

/**
 * Reads `response-content-type` and the other parameters that replace headers of a GET or HEAD; undefined if the request has no query.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
function responseOverrides(call: S3Call): Readonly<Record<string, string>> | undefined {
  if (call.query.size === 0) return undefined;
  const overrides: Record<string, string> = {};
  for (const name of overridable) {
    const value = call.query.get(`response-${name}`);
    if (value === undefined) continue;
    if (call.auth.principal.kind === 'anonymous') {
      throw new S3Error(
        'InvalidRequest',
        'Request specific response headers cannot be used for anonymous GET requests.',
      );
    }
    overrides[name] = headerValue(value);
  }
  return overrides;
}

/** Encodes text as UTF-8 bytes in the form that `node:http` writes. Line breaks and other control characters could forge headers. */
function headerValue(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) {
    throw new S3Error('InvalidArgument', 'A response header must not contain control characters.');
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The answer to a GET or HEAD of an object: its status, its headers and the range of plaintext bytes, `end` exclusive. */
interface ReadPlan {
  readonly status: 200 | 206;
  /** The object is new for each answer, so that the caller may add headers. */
  readonly headers: Record<string, string>;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks a GET or HEAD before the object is read, and returns the function that plans the answer for the object that was found.
 *
 * @throws S3Error for invalid or unsupported parameters
 */
function prepareRead(call: S3Call): {
  readonly planFor: (info: ObjectInfo) => ReadPlan;
  /** Checks what the request reads of the object. Undefined for all of it. */
  readonly accept: ReadOptions['accept'];
  /** The part that the request reads. */
  readonly parts: ReadOptions['parts'];
} & ProxiedReadOptions {
  const { headers } = call.request;
  const customerKey = customerKeyOf(call);
  const requested = headers.range === undefined ? undefined : parseRange(headers.range);
  const text = call.query.get('partNumber');
  if (text !== undefined && headers.range !== undefined) {
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter');
  }
  const part = text === undefined ? undefined : parsePartNumber(text);
  const overrides = responseOverrides(call);
  const checksumMode = wantsChecksum(header(headers, 'x-amz-checksum-mode'));

  const planFor = (info: ObjectInfo): ReadPlan => {
    const range =
      requested !== undefined && ifRangeHolds(headers, info) ? resolveRange(requested, info.size) : undefined;
    const { start, end, checksum } =
      part === undefined ? { start: 0, end: info.size, checksum: info.checksum, ...range } : rangeOfPart(part, info);
    // A client that verifies the checksum of the full object on a range would fail.
    const isWhole = part !== undefined || (start === 0 && end === info.size);
    const described = describingHeaders(info, {
      checksum: checksumMode && isWhole ? checksum : undefined,
      customerKey,
    });
    if (part !== undefined && info.parts !== undefined) described['x-amz-mp-parts-count'] = String(info.parts);
    const partial = range !== undefined || (part !== undefined && info.size > 0);
    if (overrides !== undefined) Object.assign(described, overrides);
    if (partial) described['content-range'] = `bytes ${start}-${end - 1}/${info.size}`;
    return { status: partial ? 206 : 200, headers: described, start, end };
  };
  return {
    planFor,
    accept: requested === undefined && part === undefined ? undefined : (info) => void planFor(info),
    parts: part === undefined ? undefined : { after: part - 1, limit: 1 },
    overrides,
    checksumMode,
  };
}

/** @throws S3Error InvalidRequest for any mode but ENABLED */
function wantsChecksum(mode: string | undefined): boolean {
  if (mode === undefined) return false;
  if (mode.toUpperCase() === 'ENABLED') return true;
  throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-mode header is invalid.');
}

/** Returns the bytes of a part, end exclusive, and its checksum. An object of a single upload is its own part 1. */
function rangeOfPart(part: number, info: ObjectInfo): Pick<ReadPlan, 'start' | 'end'> & Pick<ObjectInfo, 'checksum'> {
  if (info.parts === undefined && part === 1) return { start: 0, end: info.size, checksum: info.checksum };
  const found = info.partPage?.[0];
  if (found === undefined) {
    throw new S3Error('InvalidPartNumber', undefined, {
      details: { PartNumberRequested: String(part), ActualPartCount: String(info.parts ?? 1) },
    });
  }
  const { start, size, checksum } = found;
  const type = info.checksum?.type ?? 'FULL_OBJECT';
  return { start, end: start + size, checksum: checksum && { ...checksum, type } };
}

/** Returns the 304 with the headers that the query replaces, as a 200 has them; undefined for any other error. */
function renewedBy(error: unknown, overrides: ProxiedReadOptions['overrides']): S3Error | undefined {
  if (!(error instanceof S3Error) || error.code !== 'NotModified' || overrides === undefined) return undefined;
  const { 'cache-control': cacheControl, expires } = overrides;
  return new S3Error('NotModified', undefined, {
    headers: {
      ...error.headers,
      ...(cacheControl !== undefined && { 'cache-control': cacheControl }),
      ...(expires !== undefined && { expires }),
    },
    cause: error,
  });
}

/** Runs the read of an object. A remote target may answer for one that is not here. */
function answerOrElsewhere(call: S3Call, options: ProxiedReadOptions, read: () => Promise<Answer>): Promise<Answer> {
  return hideAbsence(call, async () => {
    try {
      return await read();
    } catch (error) {
      const renewed = renewedBy(error, options.overrides);
      if (renewed !== undefined) throw renewed;
      const answer = await readElsewhere(call, error, options);
      if (answer === undefined) throw error;
      return answer;
    }
  });
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
export const getObject: Operation = {
  name: 'GetObject',
  ...readActions,
  async handle(call) {
    const { planFor, accept, parts, overrides, checksumMode } = prepareRead(call);
    return answerOrElsewhere(call, { overrides, checksumMode }, async () => {
      const object = await call.objects.getObject(call.bucket, call.key, {
        conditions: readConditions(call.request.headers),
        customerKey: customerKeyOf(call),
        versionId: call.query.get('versionId'),
        onlyId: call.grantedObject,
        parts,
        accept,
        access: 'Get',
        by: call,
      });
      const { status, headers, start, end } = planFor(object.info);
      const permitted = permittedHeaders(call, object.info);
      if (permitted !== undefined) Object.assign(headers, await permitted);
      if (start === end) return { status, headers, body: { kind: 'empty' } };
      const body = object.read({ start, end });
      if (Buffer.isBuffer(body)) return { status, headers, body: { kind: 'bytes', bytes: body } };
      return { status, headers, body: { kind: 'chunks', size: end - start, chunks: body } };
    });
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
export const headObject: Operation = {
  name: 'HeadObject',
  ...readActions,
  async handle(call) {
    const { planFor, accept, parts, overrides, checksumMode } = prepareRead(call);
    return answerOrElsewhere(call, { overrides, checksumMode }, async () => {
      const info = await call.objects.headObject(call.bucket, call.key, {
        conditions: readConditions(call.request.headers),
        customerKey: customerKeyOf(call),
        versionId: call.query.get('versionId'),
        onlyId: call.grantedObject,
        parts,
        accept,
        access: 'Head',
        by: call,
      });
      const { status, headers, start, end } = planFor(info);
      const permitted = permittedHeaders(call, info);
      if (permitted !== undefined) Object.assign(headers, await permitted);
      headers['content-length'] = String(end - start);
      return { status, headers, body: { kind: 'empty' } };
    });
  },
};

/**
 * Returns the headers of a GET or HEAD that S3 answers only to callers with a further permission: the tags or their count, the retention and the
 * legal hold. It is undefined for an object without any. What the caller may not read is named by `x-coffer-hidden`, so that nobody who
 * copies the object takes it for absent.
 */
function permittedHeaders(call: S3Call, info: ObjectInfo): Promise<Record<string, string>> | undefined {
  return info.tags === undefined && info.lock === undefined ? undefined : readPermitted(call, info);
}

async function readPermitted(call: S3Call, { tags, lock }: ObjectInfo): Promise<Record<string, string>> {
  const resource = `${call.bucket}/${call.key}`;
  const headers: Record<string, string> = {};
  const hidden: HiddenRight[] = [];
  if (tags !== undefined) {
    if (await call.allowsVersion(readTagsActions, resource, call.query.get('versionId'))) {
      headers['x-amz-tagging-count'] = String(Object.keys(tags).length);
      if (wantsTags(call)) headers['x-amz-tagging'] = writeTaggingHeader(tags);
    } else hidden.push('tags');
  }
  if (lock?.retention !== undefined) {
    if (await call.allows(rightsOfHidden.retention, resource)) {
      headers['x-amz-object-lock-mode'] = lock.retention.mode;
      headers['x-amz-object-lock-retain-until-date'] = lock.retention.until.toISOString();
    } else if (lock.retention.until > call.now) hidden.push('retention');
  }
  if (lock?.legalHold !== undefined) {
    if (await call.allows(rightsOfHidden['legal-hold'], resource)) {
      headers['x-amz-object-lock-legal-hold'] = legalHoldStatus(lock.legalHold);
    } else if (lock.legalHold) hidden.push('legal-hold');
  }
  // Strangers copy nothing here, and learn no more than from S3.
  if (hidden.length > 0 && call.auth.principal.kind !== 'anonymous') headers[hiddenHeader] = hidden.join(', ');
  return headers;
}

/**
 * Runs an operation on an object that is there. Only a caller who may list the bucket, or its versions, learns that a key or a version does not
 * exist.
 *
 * @throws S3Error AccessDenied for any other caller
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export async function hideAbsence<T>(
  call: Pick<S3Call, 'bucket' | 'require'>,
  operation: () => Promise<T>,
): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof S3Error) await requireKnowledge(call, error, call.bucket);
    throw error;
  }
}

/** Requires the right to learn what an error says about a bucket: that a key or a version is absent. */
export async function requireKnowledge(
  call: Pick<S3Call, 'bucket' | 'require'>,
  { code }: S3Error,
  bucket: string,
): Promise<void> {
  if (code === 'NoSuchKey') await call.require('s3:ListBucket', bucket);
  if (code === 'NoSuchVersion') await call.require('s3:ListBucketVersions', bucket);
}
