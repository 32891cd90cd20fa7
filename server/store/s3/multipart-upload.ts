import { createHash } from 'node:crypto';
import {
  type StorageClass,
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { type S3Connection } from './connection.ts';
import { ofBytes, ofObject } from './errors.ts';
import { callFailure } from '../store-error.ts';

/** Small chunks are joined when there are this many. A client may send single bytes, whose buffers take more memory than the bytes. */
const MAX_SMALL_CHUNKS = 1024;
const SMALL_CHUNK = 4096;

export interface BodyPart {
  readonly bytes: Buffer;
  /** Base64, the form of `Content-MD5`. */
  readonly md5: string;
  readonly last: boolean;
}

/**
 * Splits a body into parts of exactly `size` bytes; the last one may be shorter. There is at least one part. A part is yielded only when
 * `last` is known.
 */
export async function* inParts(body: AsyncIterable<Buffer>, size: number): AsyncGenerator<BodyPart> {
  let part = new Gathered();
  for await (const chunk of body) {
    let rest = chunk;
    while (part.size + rest.length > size) {
      const room = size - part.size;
      part.add(rest.subarray(0, room));
      rest = rest.subarray(room);
      const full = part.join();
      part = new Gathered();
      yield { ...full, last: false };
    }
    part.add(rest);
  }
  yield { ...part.join(), last: true };
}

class Gathered {
  size = 0;
  readonly #blocks: Buffer[] = [];
  readonly #hash = createHash('md5');
  #small: Buffer[] = [];

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.size += chunk.length;
    if (chunk.length >= SMALL_CHUNK) {
      this.#joinSmall();
      this.#take(chunk);
      return;
    }
    if (this.#small.push(chunk) >= MAX_SMALL_CHUNKS) this.#joinSmall();
  }

  join(): { readonly bytes: Buffer; readonly md5: string } {
    this.#joinSmall();
    const [only] = this.#blocks;
    const bytes = this.#blocks.length === 1 && only !== undefined ? only : Buffer.concat(this.#blocks, this.size);
    return { bytes, md5: this.#hash.digest('base64') };
  }

  #joinSmall(): void {
    if (this.#small.length === 0) return;
    this.#take(Buffer.concat(this.#small));
    this.#small = [];
  }

  /** Hashes each block as it arrives. Hashing a whole part at once would block the event loop for 15 ms. */
  #take(block: Buffer): void {
    this.#hash.update(block);
    this.#blocks.push(block);
  }
}

/** Limits the parts in flight, in addition to the one part that each upload may always send. */
export class Slots {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a permit if one is free. Returns the function that gives it back. */
  take(): (() => void) | undefined {
    if (this.#free === 0) return undefined;
    this.#free -= 1;
    return () => {
      this.#free += 1;
    };
  }
}

/** An object to write. `Metadata.write` is unique to the write, which recognises its object by it after a lost response. */
export interface ObjectWrite {
  readonly Bucket: string;
  readonly Key: string;
  readonly Metadata: { readonly write: string };
  readonly ContentType: string;
  readonly StorageClass?: StorageClass;
}

/** The limit of S3. */
const MAX_PARTS = 10_000;
/** The limit for one upload. All uploads share the slots. */
const PARTS_AT_ONCE = 3;

/** A multipart upload of a large body. The object becomes visible when `complete` resolves. */
export class MultipartUpload {
  readonly #connection: S3Connection;
  readonly #slots: Slots;
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string };
  readonly #parts: { readonly PartNumber: number; readonly ETag: string }[] = [];
  readonly #sending = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  private constructor(connection: S3Connection, slots: Slots, write: ObjectWrite, uploadId: string) {
    this.#connection = connection;
    this.#slots = slots;
    this.#target = { Bucket: write.Bucket, Key: write.Key, UploadId: uploadId };
  }

  static async begin(
    connection: S3Connection,
    write: ObjectWrite,
    { slots, mustBeHome }: { readonly slots: Slots; readonly mustBeHome: () => Promise<void> },
  ): Promise<MultipartUpload> {
    const UploadId = await connection.call('begin an upload', async (client, options) => {
      await mustBeHome();
      const { UploadId: id, $metadata } = await client.send(new CreateMultipartUploadCommand(write), options);
      if (id === undefined) throw Object.assign(new Error('the upload has no id'), { $metadata });
      return id;
    });
    return new MultipartUpload(connection, slots, write, UploadId);
  }

  /**
   * Sends the next part. Resolves when the caller may gather the next one: at once if a slot is free, else when this part was sent. So
   * an upload always makes progress with the memory of a single part, however many other uploads run.
   */
  async add(part: BodyPart): Promise<void> {
    while (this.#sending.size >= PARTS_AT_ONCE) await Promise.race(this.#sending);
    this.#throwFailure();
    this.#count += 1;
    if (this.#count > MAX_PARTS)
      throw new Error(`the body has more than ${MAX_PARTS} parts of ${part.bytes.length} bytes: upload it in parts`);
    const release = this.#slots.take();
    const sent = this.#send(this.#count, part);
    if (release === undefined) return sent;
    // The next `add` or `complete` throws the failure.
    const sending: Promise<void> = sent
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        release();
        this.#sending.delete(sending);
      });
    this.#sending.add(sending);
    return undefined;
  }

  /** Throws `StoreError`, with the failure `absent` if an earlier attempt may have completed the upload. */
  async complete(): Promise<void> {
    await Promise.all(this.#sending);
    this.#throwFailure();
    const Parts = this.#parts.toSorted((a, b) => a.PartNumber - b.PartNumber);
    await this.#connection.call(
      'complete an upload',
      async (client, options) =>
        ofObject(
          await client.send(
            new CompleteMultipartUploadCommand({ ...this.#target, IfNoneMatch: '*', MultipartUpload: { Parts } }),
            options,
          ),
        ),
      // Some servers copy all parts before they respond.
      { timeout: this.#connection.timeouts.upload },
    );
  }

  /** Aborts the upload. If that fails, garbage collection finds the upload. */
  async abort(): Promise<void> {
    this.#stop.abort();
    // A part that arrives after the abort would remain.
    await Promise.allSettled(this.#sending);
    try {
      await this.#connection.call('abort an upload', (client, options) =>
        client.send(new AbortMultipartUploadCommand(this.#target), options),
      );
    } catch (error) {
      if (callFailure(error) === undefined) throw error;
    }
  }

  async #send(number: number, { bytes, md5 }: BodyPart): Promise<void> {
    const { ETag } = await this.#connection.call(
      `upload part ${number}`,
      async (client, options) =>
        ofBytes(
          await client.send(
            new UploadPartCommand({ ...this.#target, PartNumber: number, Body: bytes, ContentMD5: md5 }),
            options,
          ),
          md5,
        ),
      { timeout: this.#connection.timeouts.upload, abortSignal: this.#stop.signal },
    );
    this.#parts.push({ PartNumber: number, ETag });
    bodyBytesPassed(bytes.length);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
