/** The headers of an answer, with names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers that only servers of S3 send, with refusals too: AWS and most others, MinIO, Google. */
const marks = [
  'x-amz-request-id',
  'x-amz-id-2',
  'x-amz-delete-marker',
  'x-amz-bucket-region',
  'x-minio-error-code',
  'x-guploader-uploadid',
];

/**
 * Reports whether the headers mark an answer as that of an S3 server. An answer to HEAD has no document, so that nothing else tells it from
 * that of a proxy before the server.
 */
export function isMarkedAsS3(headers: Headers): boolean {
  const type = headers['content-type'];
  return marks.some((name) => headers[name] !== undefined) || /^(?:application|text)\/xml\b/.test(String(type ?? ''));
}

/** The codes by which a server says that an object, a version or an upload does not exist. */
const absent: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'NoSuchUpload']);

/**
 * Reports whether a server says that an object, a version or an upload does not exist. A proxy answers 404 too, which says nothing about objects.
 *
 * @param code that of the document or of a header; undefined for an answer without one
 */
export function saysAbsent(status: number, code: string | undefined, headers: Headers): boolean {
  if (code !== undefined) return absent.has(code);
  return status === 404 && isMarkedAsS3(headers);
}
