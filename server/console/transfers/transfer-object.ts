import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { child, childrenOf, readXml, textOf } from '../../../protocol/s3/xml-reader.ts';
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

/** Copies an object with its metadata and tags. Resolves with the ETag of the copied object. */
export async function copyObject(send: SendS3, from: Place, to: Place, replace: boolean): Promise<string> {
  const source = `/${from.bucket}/${encodeURIComponent(from.key).replaceAll('%2F', '/')}`;
  const { headers } = checked(await send({ method: 'HEAD', ...from }));
  const etag = headers['etag'] ?? '';
  const size = Number(headers['content-length'] ?? 0);
  if (size > maxCopy) {
    const tags = headers['x-amz-tagging-count'] === undefined ? {} : await tagHeaders(send, from);
    await copyInParts(send, { source, size, etag, headers: { ...headers, ...tags } }, to, replace);
    return etag;
  }
  const copy = { 'x-amz-copy-source': source, 'x-amz-copy-source-if-match': etag, ...unlessTaken(replace) };
  checked(await send({ method: 'PUT', ...to, headers: copy }));
  return etag;
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
 * Resolves with the ETag of an object if the target has its body, metadata and number of tags already. The ETag of an object in parts
 * depends on the sizes of the parts, which a copy changes: such objects count as different.
 */
export async function etagOfCopy(send: SendS3, from: Place, to: Place): Promise<string | undefined> {
  const source = checked(await send({ method: 'HEAD', ...from })).headers;
  const { headers: target, error } = await send({ method: 'HEAD', ...to });
  const etag = source['etag'];
  if (error !== undefined || etag === undefined || etag.includes('-')) return undefined;
  const names = ['etag', 'x-amz-tagging-count', ...Object.keys(keptHeaders({ ...source, ...target }))];
  return names.every((name) => source[name] === target[name]) ? etag : undefined;
}

interface LargeSource {
  readonly source: string;
  readonly size: number;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function copyInParts(send: SendS3, from: LargeSource, to: Place, replace: boolean): Promise<void> {
  const { source, size, etag: sourceEtag, headers } = from;
  const created = checked(await send({ method: 'POST', ...to, query: 'uploads', headers: keptHeaders(headers) }));
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
      const etag = textOf(readXml(part.document, { maxBytes: 10_000 }), 'ETag') ?? '';
      parts.push(element('Part', [element('PartNumber', number), element('ETag', etag)]));
    }
    const body = xmlDocument('CompleteMultipartUpload', parts);
    checked(await send({ method: 'POST', ...to, query: upload, headers: unlessTaken(replace), body }));
  } catch (error) {
    // A failure of the abort must not hide the first error. The upload then stays until a lifecycle rule aborts it.
    await send({ method: 'DELETE', ...to, query: upload }).catch(() => undefined);
    throw error;
  }
}

/** Returns the header that gives a new object the tags of another one. */
async function tagHeaders(send: SendS3, from: Place): Promise<Record<string, string>> {
  const { document } = checked(await send({ method: 'GET', ...from, query: 'tagging' }));
  const set = child(readXml(document, { maxBytes: 100_000 }), 'TagSet');
  const tags = set === undefined ? [] : childrenOf(set, 'Tag');
  const pairs = tags.map((tag): [string, string] => [textOf(tag, 'Key') ?? '', textOf(tag, 'Value') ?? '']);
  return { 'x-amz-tagging': new URLSearchParams(pairs).toString() };
}

/** Headers that a copy in parts does not take over by itself. */
function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = /^(?:content-(?:type|encoding|disposition|language)|cache-control|expires|x-amz-meta-.*|x-amz-tagging)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => kept.test(name)));
}

function unlessTaken(replace: boolean): Record<string, string> {
  return replace ? {} : { 'if-none-match': '*' };
}

function checked(answer: SessionS3Answer): SessionS3Answer {
  if (answer.error !== undefined) throw new ResponseError(answer.error.code, answer.error.message);
  return answer;
}
