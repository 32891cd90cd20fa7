import type { ObjectHeaders, WriteConditions, DeleteConditions, ReadConditions } from '../contract/object-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

interface Current {
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** The version ID that clients see. */
  readonly versionId?: string | undefined;
  /** The headers that a cache renews by a 304. */
  readonly headers?: Pick<ObjectHeaders, 'cacheControl' | 'expires'> | undefined;
}

/**
 * Checks the conditions of a write. Throws `PreconditionFailed`, and `NoSuchKey` for If-Match where the object is absent.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
 */
export function checkWriteConditions(
  conditions: WriteConditions | undefined,
  current: Current | undefined,
  key: string,
): void {
  if (conditions?.ifMatch !== undefined) {
    if (current === undefined) throw new S3Error('NoSuchKey', undefined, { details: { Key: key } });
    if (!matches(conditions.ifMatch, current.etag)) throw failed('If-Match');
  }
  if (conditions?.ifNoneMatch !== undefined && current !== undefined && matches(conditions.ifNoneMatch, current.etag)) {
    throw failed('If-None-Match');
  }
}

/**
 * Checks the conditions of a delete. Throws `PreconditionFailed`, and `NoSuchKey` for If-Match where the object is absent. An absent
 * object fulfils the other two, as in S3.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-deletes.html
 */
export function checkDeleteConditions(
  conditions: DeleteConditions | undefined,
  current: (Current & { readonly size: number }) | undefined,
  key: string,
): void {
  if (conditions === undefined) return;
  const { ifMatch, size, lastModified } = conditions;
  checkWriteConditions(ifMatch && { ifMatch }, current, key);
  if (current === undefined) return;
  if (size !== undefined && size !== current.size) throw failed('x-amz-if-match-size');
  if (lastModified !== undefined && !sameTime(lastModified.getTime(), current.modified)) {
    throw failed('x-amz-if-match-last-modified-time');
  }
}

/** HTTP dates have whole seconds, the times of listings have milliseconds: clients may send either. */
function sameTime(given: number, modified: number): boolean {
  return given === (given % 1000 === 0 ? Math.floor(modified / 1000) * 1000 : modified);
}

/**
 * Checks the conditions of a read. Throws `PreconditionFailed`, or `NotModified` with the headers that a cache renews. If-Match outranks If-Unmodified-Since, If-None-Match
 * outranks If-Modified-Since.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2
 */
export function checkReadConditions(conditions: ReadConditions | undefined, current: Current): void {
  if (conditions === undefined) return;
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  // HTTP dates have whole seconds.
  const modified = Math.floor(current.modified / 1000) * 1000;
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, current.etag)) throw failed('If-Match');
  } else if (ifUnmodifiedSince !== undefined && modified > ifUnmodifiedSince.getTime()) {
    throw failed('If-Unmodified-Since');
  }
  if (ifNoneMatch !== undefined) {
    if (matches(ifNoneMatch, current.etag)) throw notModified(current);
  } else if (ifModifiedSince !== undefined && modified <= ifModifiedSince.getTime()) {
    throw notModified(current);
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5 */
function notModified({ etag, modified, versionId, headers }: Current): S3Error {
  return new S3Error('NotModified', undefined, {
    headers: {
      etag: `"${etag}"`,
      'last-modified': new Date(modified).toUTCString(),
      ...(versionId !== undefined && { 'x-amz-version-id': versionId }),
      ...(headers?.cacheControl !== undefined && { 'cache-control': headers.cacheControl }),
      ...(headers?.expires !== undefined && { expires: headers.expires }),
    },
  });
}

function matches(etags: readonly string[], current: string): boolean {
  return etags.some((etag) => etag === '*' || etag === current);
}

function failed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', undefined, { details: { Condition: condition } });
}
