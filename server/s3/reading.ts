import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Answer } from '../access/answer.ts';
import type { ObjectInfo } from '../objects/object-layer.ts';
import { resolveRange } from '../objects/operations/resolve-range.ts';
import { emptyAnswer, quoted } from './answers.ts';
import { parseRange } from './byte-range.ts';
import { ifRangeHolds } from './conditions.ts';
import { customerKeyOf } from './customer-key.ts';
import { header } from './header.ts';
import { describingHeaders } from './object-headers.ts';
import { maxPartNumber } from './multipart-parameters.ts';
import type { S3Call } from './operation.ts';
import { integerParameter } from './query.ts';
import { responseOverrides } from './response-overrides.ts';
import { checkVersion } from './version-id.ts';

/** What an answer to GET or HEAD of an object tells and holds: plaintext bytes from `start` inclusive to `end` exclusive. */
export interface ReadPlan {
  readonly status: 200 | 206;
  /** Made for this answer alone: who plans may add to them. */
  readonly headers: Record<string, string>;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks a GET or HEAD of an object before anything is read; the plan follows from what is found.
 *
 * @throws S3Error for parameters that cannot be served
 */
export function prepareRead(call: S3Call): (info: ObjectInfo) => ReadPlan {
  checkVersion(call.query.get('versionId'));
  const { headers } = call.request;
  const customerKey = customerKeyOf(call);
  const asked = headers.range === undefined ? undefined : parseRange(headers.range);
  const part = partNumber(call);
  if (part !== undefined && asked !== undefined) {
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter.');
  }
  const overrides = responseOverrides(call);
  const checksumMode = header(headers, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';

  return (info) => {
    const range = asked !== undefined && ifRangeHolds(headers, info) ? resolveRange(asked, info.size) : undefined;
    // A checksum of the whole would fail a client that checks it on a part.
    const described = describingHeaders(info, { checksum: checksumMode && range === undefined, customerKey });
    if (part !== undefined) checkPart(part, info);
    const { start, end } = range ?? { start: 0, end: info.size };
    const partial = range !== undefined || (part !== undefined && info.size > 0);
    if (overrides !== undefined) Object.assign(described, overrides);
    if (partial) described['content-range'] = `bytes ${start}-${end - 1}/${info.size}`;
    return { status: partial ? 206 : 200, headers: described, start, end };
  };
}

function partNumber(call: S3Call): number | undefined {
  if (call.query.get('partNumber') === undefined) return undefined;
  return integerParameter(call.query, 'partNumber', { min: 1, max: maxPartNumber, absent: 1 });
}

/** An object that was put whole is its own part 1. */
function checkPart(part: number, info: ObjectInfo): void {
  if (part > (info.parts ?? 1)) throw new S3Error('InvalidPartNumber');
  if ((info.parts ?? 1) > 1) {
    throw new S3Error('NotImplemented', 'Reading one part of a multipart object (partNumber) is not implemented.');
  }
}

/**
 * Runs a read and gives its refusals the form that S3 has for them: an absent key is told only to those who may list the bucket,
 * and 304 carries the headers that a cache renews.
 */
export async function answerRead(call: S3Call, read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (error.code === 'NoSuchKey') await call.require('s3:ListBucket', call.bucket);
    if (error.code !== 'NotModified') throw error;
    const info = await call.objects.headObject(call.bucket, call.key, undefined, customerKeyOf(call));
    return emptyAnswer(304, { etag: quoted(info.etag), 'last-modified': info.lastModified.toUTCString() });
  }
}
