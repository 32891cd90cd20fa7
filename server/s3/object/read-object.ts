import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { S3Call, Operation } from '../operation.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { ObjectInfo } from '../../objects/object-layer.ts';
import { parseRange, resolveRange } from '../../objects/operations/byte-range.ts';
import { emptyAnswer, quoted, xmlAnswer } from '../answers.ts';
import { ifRangeHolds, readConditions, describingHeaders } from '../object-headers.ts';
import { customerKeyOf } from '../encryption-headers.ts';
import { header, integerParameter, checkVersion } from '../request.ts';
import { maxPartNumber } from '../multipart/upload-request.ts';
import { element, xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import { checksumElement } from '../request-body.ts';

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
function prepareRead(call: S3Call): (info: ObjectInfo) => ReadPlan {
  checkVersion(call.query.get('versionId'));
  const { headers } = call.request;
  const customerKey = customerKeyOf(call);
  const requested = headers.range === undefined ? undefined : parseRange(headers.range);
  const part = partNumber(call);
  if (part !== undefined && requested !== undefined) {
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter.');
  }
  const overrides = responseOverrides(call);
  const checksumMode = header(headers, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';

  return (info) => {
    const range =
      requested !== undefined && ifRangeHolds(headers, info) ? resolveRange(requested, info.size) : undefined;
    // A client that verifies the checksum of the full object on a range would fail.
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

/** An object of a single upload is its own part 1. */
function checkPart(part: number, info: ObjectInfo): void {
  if (part > (info.parts ?? 1)) throw new S3Error('InvalidPartNumber');
  if ((info.parts ?? 1) > 1) {
    throw new S3Error('NotImplemented', 'Reading one part of a multipart object (partNumber) is not implemented.');
  }
}

/**
 * Runs a read and converts its errors as S3 does: only a caller who may list the bucket learns that a key does not exist, and a 304 has the
 * headers that a cache renews.
 */
async function answerRead(call: S3Call, read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (error.code === 'NoSuchKey') await call.require('s3:ListBucket', call.bucket);
    if (error.code !== 'NotModified') throw error;
    const info = await call.objects.headObject(call.bucket, call.key, { customerKey: customerKeyOf(call) });
    return emptyAnswer(304, { etag: quoted(info.etag), 'last-modified': info.lastModified.toUTCString() });
  }
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
export const getObject: Operation = {
  name: 'GetObject',
  action: 's3:GetObject',
  async handle(call) {
    const planFor = prepareRead(call);
    return answerRead(call, async () => {
      const object = await call.objects.getObject(call.bucket, call.key, {
        conditions: readConditions(call.request.headers),
        customerKey: customerKeyOf(call),
      });
      const { status, headers, start, end } = planFor(object.info);
      if (start === end) return { status, headers, body: { kind: 'empty' } };
      const body = object.read({ start, end });
      if (Buffer.isBuffer(body)) return { status, headers, body: { kind: 'bytes', bytes: body } };
      return { status, headers, body: { kind: 'pieces', size: end - start, pieces: body } };
    });
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
export const headObject: Operation = {
  name: 'HeadObject',
  action: 's3:GetObject',
  async handle(call) {
    const planFor = prepareRead(call);
    return answerRead(call, async () => {
      const info = await call.objects.headObject(call.bucket, call.key, {
        conditions: readConditions(call.request.headers),
        customerKey: customerKeyOf(call),
      });
      const { status, headers, start, end } = planFor(info);
      headers['content-length'] = String(end - start);
      return emptyAnswer(status, headers);
    });
  },
};

const attributes: Readonly<Record<string, (info: ObjectInfo) => Xml | undefined>> = {
  ETag: (info) => element('ETag', info.etag),
  Checksum: ({ checksum }) =>
    checksum === undefined
      ? undefined
      : element('Checksum', [
          element(checksumElement(checksum.algorithm), checksum.value),
          element('ChecksumType', checksum.type),
        ]),
  ObjectParts: ({ parts }) =>
    parts === undefined ? undefined : element('ObjectParts', [element('PartsCount', parts)]),
  StorageClass: (info) => element('StorageClass', info.storageClass ?? 'STANDARD'),
  ObjectSize: (info) => element('ObjectSize', info.size),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html */
export const getObjectAttributes: Operation = {
  name: 'GetObjectAttributes',
  action: 's3:GetObject',
  async handle(call) {
    checkVersion(call.query.get('versionId'));
    const { headers } = call.request;
    const requested = (header(headers, 'x-amz-object-attributes') ?? '').split(',').map((name) => name.trim());
    const unknown = requested.find((name) => !Object.hasOwn(attributes, name));
    if (unknown !== undefined) {
      throw new S3Error('InvalidArgument', `x-amz-object-attributes takes ${Object.keys(attributes).join(', ')}.`, {
        details: { ArgumentName: 'x-amz-object-attributes', ArgumentValue: unknown.slice(0, 100) },
      });
    }
    return answerRead(call, async () => {
      const info = await call.objects.headObject(call.bucket, call.key, {
        conditions: readConditions(headers),
        customerKey: customerKeyOf(call),
      });
      return xmlAnswer(
        xmlDocument(
          'GetObjectAttributesResponse',
          Object.keys(attributes)
            .filter((name) => requested.includes(name))
            .map((name) => attributes[name]?.(info)),
        ),
        { 'last-modified': info.lastModified.toUTCString() },
      );
    });
  },
};
