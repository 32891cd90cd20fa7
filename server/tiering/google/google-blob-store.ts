import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { ownChunks, type Chunks } from '../../streams/chunks.ts';
import {
  blobAltered,
  type BlobId,
  blobMissing,
  type BlobRange,
  type BlobStore,
  blobTruncated,
  type WriteOptions,
} from '../../store/blob-store.ts';
import { copiedBody } from '../../store/copied-body.ts';
import { arriving } from '../../store/idle-body.ts';
import { blobObjectKey, type ListedBlob } from '../../store/s3/list-blobs.ts';
import { inParts } from '../../store/s3/multipart-upload.ts';
import { failureOf, socketFailure } from './google-errors.ts';
import { StoreError, callFailure, type CallFailure } from '../../store/store-error.ts';

export interface GoogleAddress {
  /** The name of the place in messages. */
  readonly what: string;
  /** The URL of Cloud Storage, without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** Empty for the default of the bucket. */
  readonly storageClass: string;
  /** Makes the token of a request. */
  readonly token: () => string;
}

/** Milliseconds of a call, and attempts in all. */
export interface GoogleTimeouts {
  readonly answer: number;
  readonly idle: number;
  readonly tries: number;
  readonly pause: number;
}

const defaultGoogleTimeouts: GoogleTimeouts = { answer: 30_000, idle: 10_000, tries: 4, pause: 200 };

/** A chunk of a resumable upload is a multiple of 256 KiB. */
const CHUNK_BYTES = 8 * 1024 * 1024;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/**
 * Keeps bodies as objects of a bucket of Google Cloud Storage, by its JSON API. A body is a resumable upload: after a broken connection it
 * goes on with the byte that Google has not got.
 *
 * @see https://cloud.google.com/storage/docs/performing-resumable-uploads
 */
export class GoogleBlobStore implements BlobStore {
  readonly #address: GoogleAddress;
  readonly #timeouts: GoogleTimeouts;

  constructor(address: GoogleAddress, timeouts: GoogleTimeouts = defaultGoogleTimeouts) {
    this.#address = address;
    this.#timeouts = timeouts;
  }

  async write(
    id: BlobId,
    body: AsyncIterable<Buffer>,
    { release }: WriteOptions = {},
  ): Promise<{ readonly size: number }> {
    const upload = await this.#begin(id);
    const hash = createHash('md5');
    let size = 0;
    let md5: string | undefined;
    try {
      for await (const { bytes, last } of inParts(
        release === undefined ? body : copiedBody(body, release),
        CHUNK_BYTES,
      )) {
        hash.update(bytes);
        md5 = await this.#send(upload, bytes, size, last);
        size += bytes.length;
      }
    } catch (error) {
      if (callFailure(error)?.kind === 'condition') throw existsAlready(id, error);
      // An upload that has not ended is not visible, and Google removes it after a week.
      await this.#once({ method: 'DELETE', url: upload })
        .then(({ body: rest }) => rest?.cancel())
        .catch(() => undefined);
      throw error;
    }
    if (md5 !== hash.digest('base64')) {
      await this.remove(id);
      throw this.#error('write', { kind: 'passing', code: 'another MD5 than that of the body' });
    }
    return { size };
  }

  /** Returns the address of a new upload. */
  async #begin(id: BlobId): Promise<string> {
    const { endpoint, bucket, storageClass } = this.#address;
    const query = new URLSearchParams({ uploadType: 'resumable', name: this.#key(id), ifGenerationMatch: '0' });
    const metadata = { contentType: 'application/octet-stream', ...(storageClass !== '' && { storageClass }) };
    const answer = await this.#call('write', {
      method: 'POST',
      url: `${endpoint}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?${query.toString()}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(metadata)),
    }).catch((error: unknown) => {
      throw callFailure(error)?.kind === 'condition' ? existsAlready(id, error) : error;
    });
    await answer.body?.cancel();
    const upload = URL.parse(answer.headers.get('location') ?? '');
    // The token must not go elsewhere.
    if (upload?.origin !== new URL(endpoint).origin)
      throw this.#error('write', { kind: 'refused', code: 'it named no address for the upload' });
    return upload.href;
  }

  /** Sends a chunk, what is missing of it again after a failure. Returns the MD5 of the whole body after the last one. */
  async #send(upload: string, bytes: Buffer, start: number, last: boolean): Promise<string | undefined> {
    const end = start + bytes.length;
    const whole = last ? String(end) : '*';
    const { tries, pause } = this.#timeouts;
    let from = start;
    let failure: CallFailure = { kind: 'passing', code: 'it keeps a part of the chunk alone' };
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const range = from === end ? `bytes */${whole}` : `bytes ${from}-${end - 1}/${whole}`;
      const body = bytes.subarray(from - start);
      const sent = await this.#try({ method: 'PUT', url: upload, headers: { 'content-range': range }, body });
      const answer =
        'failure' in sent && sent.failure.kind === 'passing'
          ? await this.#stateOf(upload, last ? end : undefined, pause * attempt)
          : sent;
      if ('failure' in answer) {
        ({ failure } = answer);
        if (failure.kind !== 'passing') break;
        continue;
      }
      if (answer.status !== 308) return (await this.#document<{ readonly md5Hash?: string }>('write', answer)).md5Hash;
      await answer.body?.cancel();
      const kept = keptBytes(answer.headers.get('range'));
      if (kept === end && !last) return undefined;
      if (kept < start || kept > end) {
        failure = { kind: 'refused', code: `it has ${kept} bytes of an upload of ${start} to ${end}` };
        break;
      }
      from = kept;
    }
    throw this.#error('write', failure);
  }

  /** Asks how much of an upload is there. */
  async #stateOf(
    upload: string,
    size: number | undefined,
    pauseMs: number,
  ): Promise<Response | { readonly failure: CallFailure }> {
    await sleep(pauseMs);
    return this.#try({ method: 'PUT', url: upload, headers: { 'content-range': `bytes */${size ?? '*'}` } });
  }

  read(id: BlobId, range: BlobRange): Chunks {
    return ownChunks(this.#chunks(id, range));
  }

  async *#chunks(id: BlobId, range: BlobRange): AsyncIterable<Buffer> {
    const { start, end } = range;
    const doing = `read blob ${id}`;
    if (start >= end) {
      const answer = await this.#call(doing, { method: 'GET', url: this.#url(id) }).catch((error: unknown) => {
        throw translated(error, id, 0, this.#place(id));
      });
      await answer.body?.cancel();
      return;
    }
    const { tries, idle, pause } = this.#timeouts;
    let at = start;
    let generation: string | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const query = new URLSearchParams({ alt: 'media', ...(generation && { ifGenerationMatch: generation }) });
        const answer = await this.#call(doing, {
          method: 'GET',
          url: `${this.#url(id)}?${query.toString()}`,
          headers: { range: `bytes=${at}-${end - 1}`, 'accept-encoding': 'identity' },
        });
        generation = answer.headers.get('x-goog-generation') ?? undefined;
        const stream = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
        try {
          checkRange(answer.headers.get('content-range'), id, { ...range, start: at }, this.#place(id));
        } catch (error) {
          stream.destroy();
          throw error;
        }
        for await (const chunk of arriving(stream, idle)) {
          const buffer = Buffer.from(chunk);
          at += buffer.length;
          bodyBytesPassed(buffer.length);
          yield buffer;
        }
        if (at === end) return;
        throw this.#error(doing, { kind: 'passing', code: 'the connection ended' });
      } catch (error) {
        const failed = this.#failed(doing, error);
        if (callFailure(failed)?.kind !== 'passing' || attempt >= tries)
          throw translated(failed, id, end, this.#place(id));
        await sleep(pause * attempt);
      }
    }
  }

  async remove(id: BlobId): Promise<void> {
    try {
      const answer = await this.#call(`remove blob ${id}`, { method: 'DELETE', url: this.#url(id) });
      await answer.body?.cancel();
    } catch (error) {
      if (callFailure(error)?.kind !== 'absent') throw error;
    }
  }

  async *list(): AsyncIterable<ListedBlob> {
    const { prefix } = this.#address;
    for await (const { now, items } of this.#pages()) {
      for (const { name, size, timeCreated } of items) {
        const id = name.slice(prefix.length + 3) as BlobId;
        if (!/^[0-9a-f]{32}$/.test(id) || name !== blobObjectKey(prefix, id)) continue;
        yield { id, size: Number(size), ageMs: Math.max(0, now - Date.parse(timeCreated)) };
      }
    }
  }

  /** Lists the names of all objects below the prefix, also of those that are not blobs. */
  async *names(): AsyncIterable<string> {
    for await (const { items } of this.#pages()) for (const { name } of items) yield name;
  }

  async *#pages(): AsyncGenerator<{ readonly now: number; readonly items: NonNullable<ListedPage['items']> }> {
    const { endpoint, bucket, prefix } = this.#address;
    let pageToken: string | undefined;
    do {
      const query = new URLSearchParams({
        fields: 'nextPageToken,items(name,size,timeCreated)',
        ...(prefix !== '' && { prefix }),
        ...(pageToken && { pageToken }),
      });
      const url = `${endpoint}/storage/v1/b/${encodeURIComponent(bucket)}/o?${query.toString()}`;
      const answer = await this.#call('list', { method: 'GET', url });
      const now = Date.parse(answer.headers.get('date') ?? '') || Date.now();
      const page = await this.#document<ListedPage>('list', answer);
      yield { now, items: page.items ?? [] };
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }

  /** Google does not report free space. */
  space(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  #key(id: BlobId): string {
    return blobObjectKey(this.#address.prefix, id);
  }

  #place(id: BlobId): string {
    const { what, bucket, endpoint } = this.#address;
    return `${what}, bucket ${bucket} at ${endpoint}, key ${this.#key(id)}`;
  }

  #url(id: BlobId): string {
    const { endpoint, bucket } = this.#address;
    return `${endpoint}/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(this.#key(id))}`;
  }

  /** Resolves with a good answer. What passes is tried again. */
  async #call(doing: string, call: Call): Promise<Response> {
    const { tries, pause } = this.#timeouts;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#try(call);
      if (!('failure' in answer)) return answer;
      if (answer.failure.kind !== 'passing' || attempt >= tries) throw this.#error(doing, answer.failure);
      await sleep(pause * attempt);
    }
  }

  /** Makes a call once. An answer is good (2xx, or 308 of an upload that goes on), or a failure. */
  async #try(call: Call): Promise<Response | { readonly failure: CallFailure }> {
    try {
      const answer = await this.#once(call);
      if (answer.ok || answer.status === 308) return answer;
      const text = await this.#inTime(answer.text());
      return { failure: failureOf(answer.status, text.slice(0, 4_096), answer.headers) };
    } catch (error) {
      const failure = socketFailure(error, this.#timeouts.answer);
      if (failure === undefined) throw error;
      return { failure };
    }
  }

  /** Rejects unless the header of the answer comes in time. */
  async #once({ method, url, headers = {}, body }: Call): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#timeouts.answer);
    try {
      return await fetch(url, {
        method,
        headers: { ...headers, authorization: `Bearer ${this.#address.token()}` },
        redirect: 'manual',
        signal: late.signal,
        ...(body !== undefined && { body: new Uint8Array(body) }),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #document<T>(doing: string, answer: Response): Promise<T> {
    try {
      return (await this.#inTime(answer.json())) as T;
    } catch (error) {
      throw this.#failed(doing, error);
    }
  }

  /** Rejects unless a document, which is short, comes in time. */
  async #inTime<T>(document: Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = sleep(this.#timeouts.answer, undefined, { signal: late.signal }).then(() => {
      throw Object.assign(new Error('the document does not end'), { name: 'TimeoutError' });
    });
    try {
      return await Promise.race([document, timer]);
    } finally {
      timer.catch(() => undefined);
      late.abort();
    }
  }

  #failed(doing: string, error: unknown): unknown {
    const failure = socketFailure(error, this.#timeouts.answer);
    return failure === undefined ? error : this.#error(doing, failure);
  }

  /** The error has no cause: errors of requests may hold their headers. */
  #error(doing: string, failure: CallFailure): StoreError {
    const { what, bucket, endpoint } = this.#address;
    const message = `could not ${doing} in ${what} (bucket ${bucket} at ${endpoint}): ${failure.code}`;
    return new StoreError('unreachable', message, { failure });
  }
}

interface ListedPage {
  readonly items?: readonly ListedItem[];
  readonly nextPageToken?: string;
}

interface ListedItem {
  readonly name: string;
  readonly size: string;
  readonly timeCreated: string;
}

/** `bytes=0-99` are 100 bytes; without the header there are none yet. */
function keptBytes(range: string | null): number {
  const [, last] = /^bytes=0-(\d+)$/.exec(range ?? '') ?? [];
  return last === undefined ? 0 : Number(last) + 1;
}

function existsAlready(id: BlobId, cause: unknown): Error {
  return new Error(`blob ${id} exists already: ids are never used twice`, { cause });
}

/** Throws unless the response has exactly the requested bytes. */
function checkRange(header: string | null, id: BlobId, { start, end, size }: BlobRange, place: string): void {
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? '');
  if (match === null)
    throw new Error(`asked for bytes ${start} to ${end} of blob ${id}, Google gave ${header ?? 'all'}`);
  const [first, last, whole] = match.slice(1).map(Number);
  if (whole !== undefined && whole < end) throw blobTruncated(id, end, place);
  if (size !== undefined && whole !== size) throw blobAltered(id, `has ${whole} bytes instead of ${size}`, place);
  if (first !== start || last !== end - 1)
    throw new Error(`asked for bytes ${start} to ${end} of blob ${id}, Google gave ${header}`);
}

function translated(error: unknown, id: BlobId, end: number, place: string): unknown {
  const kind = callFailure(error)?.kind;
  if (kind === 'absent') return blobMissing(id, place);
  // The object was replaced while it was read.
  if (kind === 'condition') return blobAltered(id, 'was replaced while it was read', place);
  return kind === 'range' ? blobTruncated(id, end, place) : error;
}
