import { isDeepStrictEqual } from 'node:util';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { child, childrenOf, readXml, textOf } from '../../../protocol/s3/xml-reader.ts';
import { attributesOf, type CopiedAttributes } from '../../../protocol/s3/copies/copied-attributes.ts';
import {
  copyingHeaders,
  copySourceHeader,
  newObjectHeaders,
  uploadChecksumHeaders,
} from '../../../protocol/s3/copies/copy-headers.ts';
import { writeTaggingHeader } from '../../../protocol/s3/tagging.ts';
import { checksumAlgorithms } from '../../../protocol/s3/checksum-algorithms.ts';
import type { SessionS3Answer } from '../services.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** Sends an operation of the S3 API with the rights of a session. */
export type SendS3 = (operation: {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  readonly key: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}) => Promise<SessionS3Answer>;

export interface Place {
  readonly bucket: string;
  readonly key: string;
}

/** Bytes. CopyObject copies no larger object: those are copied in parts. */
const maxCopy = 5 * 1024 ** 3;
const partSize = 1024 ** 3;

/** Renames an object without a copy of its body. Resolves with false where the bucket has versions. */
export async function renameObject(send: SendS3, from: Place, to: string, replace: boolean): Promise<boolean> {
  const { error } = await send({
    method: 'PUT',
    bucket: from.bucket,
    key: to,
    query: 'renameObject',
    headers: { 'x-amz-rename-source': encodeURIComponent(from.key), ...unlessTaken(replace) },
  });
  if (error?.code === 'InvalidBucketState') return false;
  if (error !== undefined) throw new ResponseError(error.code, error.message);
  return true;
}

/**
 * Makes a copy that is equal to its source. Resolves with the ETag of the copied object.
 *
 * @throws ResponseError where something cannot be carried: nothing is written then
 */
export async function copyObject(send: SendS3, from: Place, to: Place, replace: boolean): Promise<string> {
  const source = copySourceHeader(from);
  const { headers, attributes } = await readObject(send, from);
  const etag = headers['etag'] ?? '';
  const size = Number(headers['content-length'] ?? 0);
  if (size > maxCopy) {
    const tagging = attributes.tags === 0 ? undefined : await taggingOf(send, from);
    await copyInParts(send, { source, size, etag, attributes, tagging }, to, replace);
    return etag;
  }
  const copy = { 'x-amz-copy-source': source, 'x-amz-copy-source-if-match': etag, ...unlessTaken(replace) };
  checked(await send({ method: 'PUT', ...to, headers: { ...copyingHeaders(attributes), ...copy } }));
  return etag;
}

async function readObject(send: SendS3, place: Place) {
  const { headers } = checked(await send({ method: 'HEAD', ...place, headers: { 'x-amz-checksum-mode': 'ENABLED' } }));
  return { headers, attributes: attributesOf(headers, new Date()) };
}

/** Deletes an object that still has the ETag. A newer object stays. */
export async function deleteObject(send: SendS3, place: Place, etag: string): Promise<void> {
  const answer = await send({ method: 'DELETE', ...place, headers: { 'if-match': etag } });
  if (answer.error?.code === 'PreconditionFailed') {
    throw new ResponseError('PreconditionFailed', 'A newer object replaced it during the copy, and was not deleted.');
  }
  checked(answer);
}

/**
 * Resolves with the ETag of an object if the target has its body, its attributes and its number of tags already. The ETag of an object in
 * parts depends on the sizes of the parts, which a copy changes: such objects count as different.
 */
export async function etagOfCopy(send: SendS3, from: Place, to: Place): Promise<string | undefined> {
  const source = await readObject(send, from);
  const etag = source.headers['etag'];
  if (etag === undefined || etag.includes('-')) return undefined;
  const target = await readObject(send, to).catch((error: unknown) => {
    if (error instanceof ResponseError) return undefined;
    throw error;
  });
  if (target?.headers['etag'] !== etag) return undefined;
  return isDeepStrictEqual(comparable(source.attributes, source), comparable(target.attributes, source))
    ? etag
    : undefined;
}

/** The target bucket and the server may give a copy what its source has not: an encryption, a retention, a checksum. */
function comparable(of: CopiedAttributes, { attributes: source }: { readonly attributes: CopiedAttributes }) {
  const { encryption, checksum, lock, ...rest } = of;
  return {
    ...rest,
    encryption: source.encryption && encryption,
    checksum: source.checksum && checksum,
    lock: {
      legalHold: source.lock.legalHold && lock.legalHold,
      retention: source.lock.retention && lock.retention,
    },
  };
}

interface LargeSource {
  readonly source: string;
  readonly size: number;
  readonly etag: string;
  readonly attributes: CopiedAttributes;
  readonly tagging: string | undefined;
}

async function copyInParts(send: SendS3, from: LargeSource, to: Place, replace: boolean): Promise<void> {
  const { source, size, etag: sourceEtag, attributes, tagging } = from;
  const headers = { ...newObjectHeaders(attributes, 'same', { tagging }), ...uploadChecksumHeaders(attributes) };
  const created = checked(await send({ method: 'POST', ...to, query: 'uploads', headers }));
  const uploadId = textOf(readXml(created.document, { maxBytes: 10_000 }), 'UploadId') ?? '';
  const upload = `uploadId=${encodeURIComponent(uploadId)}`;
  try {
    const parts = [];
    for (let start = 0, number = 1; start < size; start += partSize, number += 1) {
      const part = checked(
        await send({
          method: 'PUT',
          ...to,
          query: `partNumber=${number}&${upload}`,
          headers: {
            'x-amz-copy-source': source,
            'x-amz-copy-source-range': `bytes=${start}-${Math.min(start + partSize, size) - 1}`,
            // A change of the source meanwhile would mix two objects.
            'x-amz-copy-source-if-match': sourceEtag,
          },
        }),
      );
      parts.push(completedPart(number, part.document));
    }
    const body = xmlDocument('CompleteMultipartUpload', parts);
    checked(await send({ method: 'POST', ...to, query: upload, headers: unlessTaken(replace), body }));
  } catch (error) {
    // A failure of the abort must not hide the first error. The upload then stays until a lifecycle rule aborts it.
    await send({ method: 'DELETE', ...to, query: upload }).catch(() => undefined);
    throw error;
  }
}

/** Names a part with the checksum that the server computed: one that is composite needs those of all parts. */
function completedPart(number: number, copied: Buffer) {
  const result = readXml(copied, { maxBytes: 10_000 });
  const checksums = checksumAlgorithms.flatMap((algorithm) => {
    const value = textOf(result, `Checksum${algorithm}`);
    return value === undefined ? [] : [element(`Checksum${algorithm}`, value)];
  });
  return element('Part', [element('PartNumber', number), element('ETag', textOf(result, 'ETag') ?? ''), ...checksums]);
}

/** Returns the tags in the form of a header, with which a new object is made. */
async function taggingOf(send: SendS3, from: Place): Promise<string> {
  const { document } = checked(await send({ method: 'GET', ...from, query: 'tagging' }));
  const set = child(readXml(document, { maxBytes: 100_000 }), 'TagSet');
  const tags = set === undefined ? [] : childrenOf(set, 'Tag');
  return writeTaggingHeader(
    Object.fromEntries(tags.map((tag): [string, string] => [textOf(tag, 'Key') ?? '', textOf(tag, 'Value') ?? ''])),
  );
}

function unlessTaken(replace: boolean): Record<string, string> {
  return replace ? {} : { 'if-none-match': '*' };
}

function checked(answer: SessionS3Answer): SessionS3Answer {
  if (answer.error !== undefined) throw new ResponseError(answer.error.code, answer.error.message);
  return answer;
}
