import { createHash } from 'node:crypto';
import { CliError } from '../../../config/cli-error.ts';
import { buffer } from 'node:stream/consumers';
import type { CompletedPart } from '../../../../protocol/s3/complete-multipart-request.ts';
import type { S3Client } from '../../../s3/client.ts';
import {
  abortUpload,
  completeUpload,
  copyPart,
  createUpload,
  partSizeFor,
  uploadPart,
  type Upload,
} from '../../../s3/multipart-upload.ts';
import { copyObject, putObject, type CopySource, type ObjectHeaders } from '../../../s3/objects.ts';
import { parseSize } from '../entries/sizes.ts';
import { rangeBody, type ByteSource } from './byte-source.ts';
import { forEachLimit, type Semaphore } from '../../../../platform/concurrency.ts';

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
  throw new CliError('BadArgument', `Invalid ${name} \`${text}\`: it is a size from 5MiB to 5GiB, such as 16MiB`);
}

/** The client reads a smaller body into memory and hashes it, which saves the chunk signatures. */
const memoryLimit = 1_024 * 1_024;

/** The limit of S3 for one copy request. */
export const copyLimit = 5 * 1_024 ** 3;
const copiedPart = 512 * 1_024 * 1_024;

export interface Destination {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly headers: ObjectHeaders;
  /** Headers of each part, for a key of the client. */
  readonly partHeaders: ObjectHeaders;
  /** Sends the MD5 of each body. A body that is not in memory is read twice for it. */
  readonly md5: boolean;
  /** Limits the concurrent requests with a body of all uploads. */
  readonly semaphore: Semaphore;
  readonly parallel: number;
  readonly count: (bytes: number) => void;
  /** Makes a client that works after the command is interrupted. */
  readonly cleaner: () => Promise<S3Client>;
}

/** Uploads a source, in parts above the limit of `multipart`. A failed upload is aborted. */
export async function upload(source: ByteSource, to: Destination, multipart: Multipart): Promise<void> {
  const { client, bucket, key, headers, semaphore, count } = to;
  const { size } = source;
  if (size > multipart.above) {
    const partSize = partSizeFor(size, multipart.partSize);
    await inParts(to, size, partSize, async (started, partNumber, start, end) =>
      semaphore(async () => {
        const digest = to.md5 ? await md5Header(source.open(start, end)) : {};
        return uploadPart(client, started, partNumber, rangeBody(source, start, end, count), {
          ...to.partHeaders,
          ...digest,
        });
      }),
    );
    return;
  }
  await semaphore(async () => {
    const body = rangeBody(source, 0, size, count);
    const sent = size <= memoryLimit ? await buffer(body.open()) : body;
    const digest = to.md5 ? await md5Header(sent instanceof Uint8Array ? [sent] : source.open(0, size)) : {};
    await putObject(client, bucket, key, sent, { ...headers, ...digest });
  });
}

/** A server demands a digest of each body under object lock. */
async function md5Header(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<ObjectHeaders> {
  const hash = createHash('md5');
  for await (const chunk of bytes) hash.update(chunk);
  return { 'content-md5': hash.digest('base64') };
}

/**
 * Uploads a stream of unknown size: in one request where it fits into a part, in parts otherwise. Each concurrent part is in memory, so that
 * the client can send it again. A failed upload is aborted.
 */
export async function uploadStream(
  stream: AsyncIterable<Uint8Array>,
  to: Destination,
  multipart: Multipart,
): Promise<void> {
  const { client, bucket, key, headers, semaphore, count } = to;
  const chunks = chunksOf(stream, multipart.partSize);
  const first = await chunks.next();
  const start = first.done === true ? Buffer.alloc(0) : first.value;
  const second = await chunks.next();
  if (second.done === true) {
    const digest = to.md5 ? await md5Header([start]) : {};
    await semaphore(async () => putObject(client, bucket, key, start, { ...headers, ...digest }));
    count(start.length);
    return;
  }
  const started = await createUpload(client, bucket, key, headers);
  const parts: CompletedPart[] = [];
  let size = 0;
  async function* numbered(): AsyncGenerator<readonly [number, Buffer], void, undefined> {
    yield [1, start];
    let number = 2;
    for (let chunk = second; chunk.done !== true; chunk = await chunks.next()) yield [number++, chunk.value];
  }
  try {
    await forEachLimit(numbered(), to.parallel, async ([number, bytes]) => {
      const digest = to.md5 ? await md5Header([bytes]) : {};
      parts[number - 1] = await semaphore(async () =>
        uploadPart(client, started, number, bytes, { ...to.partHeaders, ...digest }),
      );
      size += bytes.length;
      count(bytes.length);
    });
    await completeUpload(client, started, parts, size);
  } catch (error) {
    await abortUpload(await to.cleaner(), started).catch(() => undefined);
    throw error;
  }
}

/**
 * Splits a stream into buffers of one part; the last one is shorter. The size of a part doubles after each 2,500, so that 10,000 parts hold
 * 600 GiB when the first have 16 MiB, and short streams need little memory.
 */
async function* chunksOf(stream: AsyncIterable<Uint8Array>, partSize: number): AsyncGenerator<Buffer, void, undefined> {
  let pending: Uint8Array[] = [];
  let held = 0;
  let made = 0;
  for await (const bytes of stream) {
    let rest = bytes;
    for (;;) {
      const room = partSize * 2 ** Math.floor(made / 2_500) - held;
      if (rest.length < room) break;
      pending.push(rest.subarray(0, room));
      rest = rest.subarray(room);
      yield Buffer.concat(pending);
      made += 1;
      pending = [];
      held = 0;
    }
    if (rest.length > 0) pending.push(rest);
    held += rest.length;
  }
  if (held > 0) yield Buffer.concat(pending);
}

/** Copies within one server. The client does not receive the bytes. */
export async function copyWithin(source: CopySource & { readonly size: number }, to: Destination): Promise<void> {
  const { client, bucket, key, headers, semaphore, count } = to;
  if (source.size <= copyLimit) {
    await semaphore(async () => copyObject(client, source, { bucket, key }, headers));
    count(source.size);
    return;
  }
  await inParts(to, source.size, copiedPart, async (started, partNumber, start, end) =>
    semaphore(async () => {
      const part = await copyPart(client, started, partNumber, source, { start, end }, to.partHeaders);
      count(end - start);
      return part;
    }),
  );
}

type MakePart = (upload: Upload, partNumber: number, start: number, end: number) => Promise<CompletedPart>;

async function inParts(to: Destination, size: number, partSize: number, make: MakePart): Promise<void> {
  const started = await createUpload(to.client, to.bucket, to.key, to.headers);
  const parts: CompletedPart[] = [];
  try {
    await forEachLimit(partNumbers(size, partSize), to.parallel, async (partNumber) => {
      const start = (partNumber - 1) * partSize;
      parts[partNumber - 1] = await make(started, partNumber, start, Math.min(start + partSize, size));
    });
    await completeUpload(to.client, started, parts, size);
  } catch (error) {
    // The caller gets the original failure. An unreachable server removes the parts in its own clean-up.
    await abortUpload(await to.cleaner(), started).catch(() => undefined);
    throw error;
  }
}

function* partNumbers(size: number, partSize: number): Generator<number, void, undefined> {
  for (let number = 1; (number - 1) * partSize < size; number += 1) yield number;
}
