import { errorOf, guard, unreachable } from '../api/call.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { childrenOf, s3, s3Document, s3Url, textIn, withoutCacheControl } from '../api/s3.ts';
import { xml, xmlDocument } from '../text/xml.ts';
import { missingParts, multipartFrom, partSizeOf, type Part } from './part-plan.ts';
import type { SendRequest } from './upload-queue.ts';
import { uploadRecords } from './upload-records.ts';
import { t } from '../texts/texts.ts';

/** Parts of one file at the same time. Browsers open six connections to a host, and the pages need some of them. */
const partsAtOnce = 3;

/** Sends a file: a small one in one request, a large one in parts, of which a second attempt sends only those that are missing. */
export async function sendFile(request: SendRequest): Promise<void> {
  const { file, bucket, key, replace, signal, progress } = request;
  if (file.size < multipartFrom) {
    const conditions: Record<string, string> = replace ? {} : { 'if-none-match': '*' };
    const headers = withoutCacheControl({ 'content-type': typeOf(file), ...conditions });
    await put(s3Url(bucket, key, {}), file, headers, { signal, progress });
    return;
  }
  await sendParts(request);
}

function typeOf(file: Blob): string {
  return file.type === '' ? 'application/octet-stream' : file.type;
}

async function sendParts(request: SendRequest): Promise<void> {
  const { file, bucket, key, replace, progress, multipart } = request;
  // The parts that are on their way end with the first one that fails.
  const failed = new AbortController();
  const signal = AbortSignal.any([request.signal, failed.signal]);
  if (multipart.uploadId === undefined) {
    if (!replace) await refuseTaken(request);
    const created = await s3Document('POST', bucket, {
      key,
      query: { uploads: '' },
      headers: { 'content-type': typeOf(file) },
      signal,
    });
    multipart.uploadId = textIn(created, 'UploadId') ?? '';
    multipart.partSize = partSizeOf(file.size);
    await request.begun();
  } else if (multipart.etags.size === 0) await readParts(request);
  const { uploadId, partSize, etags } = multipart;
  const sent = new Map<number, number>();
  for (const number of etags.keys()) sent.set(number, sizeOfPart(number, partSize, file.size));
  const report = () => progress([...sent.values()].reduce((sum, size) => sum + size, 0));
  report();
  const left = [...missingParts(file.size, partSize, new Set(etags.keys()))];
  const sendOne = async ({ number, start, end }: Part) => {
    const url = s3Url(bucket, key, { partNumber: String(number), uploadId });
    const etag = await putAgain(
      url,
      file.slice(start, end),
      {},
      {
        signal,
        progress: (bytes) => {
          sent.set(number, bytes);
          report();
        },
      },
    );
    etags.set(number, etag);
    sent.set(number, end - start);
  };
  const worker = async () => {
    for (let part = left.shift(); part !== undefined; part = left.shift()) await sendOne(part);
  };
  try {
    await Promise.all(Array.from({ length: partsAtOnce }, worker));
  } catch (error) {
    failed.abort();
    throw error;
  }
  const parts = [...etags].sort(([a], [b]) => a - b);
  const unless: Record<string, string> = replace ? {} : { 'if-none-match': '*' };
  await s3Document('POST', bucket, {
    key,
    query: { uploadId },
    headers: unless,
    body: xmlDocument(
      'CompleteMultipartUpload',
      parts.map(([number, etag]) => xml('Part', [xml('PartNumber', number), xml('ETag', etag)])),
    ),
    signal,
  });
  await uploadRecords.delete(uploadId ?? '');
}

/** Asks before a large file is sent, because the server refuses a taken key only at the end. A user who may not ask sends it. */
async function refuseTaken({ bucket, key, signal }: SendRequest): Promise<void> {
  try {
    await s3('HEAD', bucket, { key, signal });
  } catch (error) {
    if (error instanceof ResponseError) return;
    throw error;
  }
  throw new ResponseError('PreconditionFailed', t.uploads.thereIsAnObjectWithThisKey, { status: 412 });
}

/** Milliseconds before each further attempt to send a part. */
const pauses = [1_000, 4_000];

/** Sends a part, and again where the network or the server failed for a moment. */
async function putAgain(...request: Parameters<typeof put>): Promise<string> {
  for (const ms of pauses) {
    try {
      return await put(...request);
    } catch (error) {
      if (!(error instanceof ResponseError) || (error.status !== 0 && error.status < 500)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, ms);
      });
    }
  }
  return put(...request);
}

function sizeOfPart(number: number, partSize: number, size: number): number {
  return Math.min(partSize, size - (number - 1) * partSize);
}

/** Asks the server which parts it has, after a reload of the page. */
async function readParts({ bucket, key, signal, multipart, file }: SendRequest): Promise<void> {
  for (let marker: string | undefined; ;) {
    const root: Element = await s3Document('GET', bucket, {
      key,
      query: { uploadId: multipart.uploadId, 'part-number-marker': marker },
      signal,
    });
    for (const part of childrenOf(root, 'Part')) {
      const number = Number(textIn(part, 'PartNumber'));
      const whole = Number(textIn(part, 'Size')) === sizeOfPart(number, multipart.partSize, file.size);
      if (whole) multipart.etags.set(number, textIn(part, 'ETag') ?? '');
    }
    if (textIn(root, 'IsTruncated') !== 'true') return;
    marker = textIn(root, 'NextPartNumberMarker');
  }
}

/** Removes the parts of an upload that the user gave up. */
export async function abortUpload(bucket: string, key: string, uploadId: string): Promise<void> {
  await uploadRecords.delete(uploadId);
  try {
    await s3('DELETE', bucket, { key, query: { uploadId } });
  } catch (error) {
    // It is completed or aborted already, or the user may not abort: a lifecycle rule removes such parts.
    if (!(error instanceof ResponseError)) throw error;
  }
}

interface Transfer {
  readonly signal: AbortSignal;
  readonly progress: (sent: number) => void;
}

/** Sends a body by XMLHttpRequest, because fetch does not report the progress of an upload. Resolves to the ETag. */
function put(
  url: string,
  body: Blob,
  headers: Readonly<Record<string, string>>,
  { signal, progress }: Transfer,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  if (signal.aborted) {
    reject(aborted());
    return promise;
  }
  const request = new XMLHttpRequest();
  request.open('PUT', url);
  for (const [name, value] of Object.entries({ ...guard, ...headers })) request.setRequestHeader(name, value);
  request.upload.addEventListener('progress', ({ loaded }) => progress(loaded));
  request.addEventListener('load', () => {
    if (request.status >= 200 && request.status < 300) resolve(request.getResponseHeader('etag') ?? '');
    else reject(errorOf(request.status, request.responseText));
  });
  request.addEventListener('error', () => reject(unreachable()));
  request.addEventListener('abort', () => reject(aborted()));
  const abort = () => request.abort();
  signal.addEventListener('abort', abort, { once: true });
  request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
  request.send(body);
  return promise;
}

function aborted(): DOMException {
  return new DOMException('cancelled', 'AbortError');
}
