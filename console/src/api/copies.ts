import { ResponseError } from '../../../protocol/response-error.ts';
import { attributesOf, type CopiedAttributes } from '../../../protocol/s3/copies/copied-attributes.ts';
import { copyingHeaders, copySourceHeader, replacingHeaders } from '../../../protocol/s3/copies/copy-headers.ts';

/** Sends an operation of the S3 API with the rights of the session, and resolves with the headers of the answer. */
export type SendS3 = (
  method: 'GET' | 'HEAD' | 'PUT',
  bucket: string,
  request: {
    readonly key: string;
    readonly query?: Readonly<Record<string, string | undefined>>;
    readonly headers: Readonly<Record<string, string>>;
  },
) => Promise<Readonly<Record<string, string>>>;

/** An object, or one of its versions. */
interface CopyOntoItself {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** The version that the page showed. The copy is refused where the object is another one by then. */
export interface SeenObject {
  readonly etag: string;
  /** ISO 8601. */
  readonly lastModified: string;
}

/**
 * Makes a version the current one by a copy that is equal to it.
 *
 * @throws ResponseError where something cannot be carried: nothing is written then
 */
export async function copyVersion(send: SendS3, object: CopyOntoItself): Promise<void> {
  const { attributes, etag } = await readAttributes(send, object);
  await put(send, object, etag, copyingHeaders(attributes));
}

/**
 * Copies an object onto itself with other headers and metadata. All else stays as it is.
 *
 * @throws ResponseError PreconditionFailed, and where something cannot be carried: nothing is written then
 */
export async function copyWithHeaders(
  send: SendS3,
  object: CopyOntoItself,
  seen: SeenObject,
  { content, metadata }: Pick<CopiedAttributes, 'content' | 'metadata'>,
): Promise<void> {
  const { attributes, etag, modified } = await readAttributes(send, object);
  // Metadata change neither the content nor, without a key of the key service, the ETag. A header has whole seconds.
  if (etag !== `"${seen.etag}"` || modified !== Math.floor(Date.parse(seen.lastModified) / 1_000)) {
    throw new ResponseError(
      'PreconditionFailed',
      'The object was changed meanwhile. Cancel, and edit it as it is now.',
    );
  }
  const headers = replacingHeaders({
    ...attributes,
    content: { ...attributes.content, ...content },
    metadata,
    // The page has the values that no header shows.
    hidden: { ...attributes.hidden, metadata: 0 },
  });
  // The form clears a header by the empty text.
  const kept = Object.entries(headers).filter(([name, value]) => value !== '' || name.startsWith('x-amz-meta-'));
  await put(send, object, etag, { ...Object.fromEntries(kept), 'if-match': etag });
}

async function readAttributes(send: SendS3, { bucket, key, versionId }: CopyOntoItself) {
  const request = { key, query: { versionId } };
  const head = send('HEAD', bucket, { ...request, headers: { 'x-amz-checksum-mode': 'ENABLED' } });
  const headers = await head.catch(async (error: unknown) => {
    // The answer to a HEAD does not say why. That to a GET does, and one byte suffices.
    await send('GET', bucket, { ...request, headers: { range: 'bytes=0-0' } });
    throw error;
  });
  return {
    attributes: attributesOf(headers, new Date()),
    etag: headers['etag'] ?? '',
    modified: Math.floor(Date.parse(headers['last-modified'] ?? '') / 1_000),
  };
}

async function put(
  send: SendS3,
  { bucket, key, versionId }: CopyOntoItself,
  etag: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  await send('PUT', bucket, {
    key,
    headers: {
      ...headers,
      'x-amz-copy-source': copySourceHeader({ bucket, key, versionId }),
      'x-amz-copy-source-if-match': etag,
    },
  });
}
