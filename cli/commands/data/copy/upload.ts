import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { copyPart, partSizeFor, uploadPart } from '../../../s3/multipart-upload.ts';
import { copyObject, putObject, type CopySource } from '../../../s3/objects.ts';
import { parseSize } from '../entries/sizes.ts';
import { inMemory, memoryLimit, rangeBody, type ByteSource } from './byte-source.ts';
import { digestHeaders, digestsOf } from './digests.ts';
import { type Destination, type PartRange, uploadParts } from './upload-parts.ts';

/** The sizes of a multipart upload in bytes. */
export interface Multipart {
  /** Larger sources are uploaded in parts. */
  readonly above: number;
  readonly partSize: number;
}

const mebibyte = 1_024 * 1_024;

/** The limits of S3 for a part. The last part may be smaller. */
const minPartSize = 5 * mebibyte;
const maxPartSize = 5 * 1_024 * mebibyte;

interface MultipartOptions {
  readonly disableMultipart?: boolean;
  readonly partSize?: string;
}

/**
 * The default is parts of 16 MiB above 64 MiB. `--part-size`, or else `COFFER_UPLOAD_MULTIPART_SIZE` or `MC_UPLOAD_MULTIPART_SIZE` (`8MiB`),
 * sets both sizes. `--disable-multipart` uploads in one request.
 */
export function multipartOf(env: NodeJS.ProcessEnv, { disableMultipart, partSize }: MultipartOptions): Multipart {
  const name = env['COFFER_UPLOAD_MULTIPART_SIZE'] ? 'COFFER_UPLOAD_MULTIPART_SIZE' : 'MC_UPLOAD_MULTIPART_SIZE';
  const given =
    partSize === undefined ? parsePartSize(name, env[name] || undefined) : parsePartSize('--part-size', partSize);
  return { partSize: given ?? 16 * mebibyte, above: disableMultipart === true ? Infinity : (given ?? 64 * mebibyte) };
}

function parsePartSize(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  // Without an `i` the units are of 1,024 too, as for other clients.
  const binary = text.replace(/([kmg])b?$/i, '$1i');
  const size = /^[\d.]+[kmg]?i?b?$/i.test(binary) ? parseSize(name, binary) : Number.NaN;
  if (size >= minPartSize && size <= maxPartSize) return size;
  throw new ProgramError('BadArgument', `Invalid ${name} \`${text}\`: it is a size from 5MiB to 5GiB, such as 16MiB`);
}

/** The limit of S3 for one copy request. */
export const copyLimit = 5 * 1_024 ** 3;
const copiedPart = 512 * 1_024 * 1_024;

/** Uploads a source, in parts above the limit of `multipart`. A failed upload is aborted. */
export async function upload(source: ByteSource, to: Destination, multipart: Multipart): Promise<void> {
  const { client, bucket, key, headers, semaphore, count } = to;
  const { size } = source;
  if (size > multipart.above) {
    await uploadRanges(source, to, partSizeFor(size, multipart.partSize));
    return;
  }
  const send = async (): Promise<void> => {
    const body = rangeBody(source, 0, size, count);
    const sent = size <= memoryLimit ? await inMemory(body.open()) : body;
    const digests = await digestsOf(() => (sent instanceof Uint8Array ? [sent] : source.open(0, size)), to.digests);
    await putObject(client, bucket, key, sent, { ...headers, ...digestHeaders(digests) });
  };
  // The number of copies limits the requests with a small body.
  await (size <= memoryLimit ? send() : semaphore(send));
}

async function uploadRanges(source: ByteSource, to: Destination, partSize: number): Promise<void> {
  const { client, semaphore, count } = to;
  await uploadParts(to, {
    plan: JSON.stringify([source.identity ?? '', source.size, partSize]),
    ranges: rangesOf(source.size, partSize),
    send: async (started, { partNumber, start, end }) =>
      semaphore(async () => {
        const digests = await digestsOf(() => source.open(start, end), to.digests);
        const headers = { ...to.partHeaders, ...digestHeaders(digests) };
        const part = await uploadPart(client, started, partNumber, rangeBody(source, start, end, count), headers);
        return { ...part, ...(digests.checksum && { checksum: digests.checksum }) };
      }),
    reuse: async ({ partNumber, etag }, { start, end }) =>
      semaphore(async () => {
        const { checksum } = to.digests;
        const part = { partNumber, etag };
        // An object is read only while it has the ETag of the plan.
        if (source.identity !== undefined && checksum === undefined) return part;
        const digests = await digestsOf(() => source.open(start, end), { md5: true, checksum });
        // The ETag of a part is its MD5, unless the server encrypts it with a key of the key service or of the client.
        if (digests.md5 !== Buffer.from(etag, 'hex').toString('base64')) return undefined;
        return { ...part, ...(digests.checksum && { checksum: digests.checksum }) };
      }),
  });
}

function* rangesOf(size: number, partSize: number): Generator<PartRange, void, undefined> {
  for (let start = 0; start < size; start += partSize) {
    yield { partNumber: start / partSize + 1, start, end: Math.min(start + partSize, size) };
  }
}

/** Copies within one server. The client does not receive the bytes. */
export async function copyWithin(source: CopySource & { readonly size: number }, to: Destination): Promise<void> {
  const { client, bucket, key, headers, count } = to;
  if (source.size <= copyLimit) {
    await copyObject(client, source, { bucket, key }, headers);
    count(source.size);
    return;
  }
  const { etag, versionId = '', size } = source;
  await uploadParts(to, {
    plan: JSON.stringify([source.bucket, source.key, versionId, etag, size]),
    ranges: rangesOf(size, copiedPart),
    send: async (started, range) => {
      const part = await copyPart(client, started, range.partNumber, source, range, to.partHeaders);
      count(range.end - range.start);
      return part;
    },
    // The server copies only from the object with the ETag of the plan. A completion names the checksums of the parts, which a listing lacks.
    ...(etag !== '' &&
      headers['x-amz-checksum-type'] !== 'COMPOSITE' && {
        reuse: async ({ partNumber, etag: stored }) => ({ partNumber, etag: stored }),
      }),
  });
}
