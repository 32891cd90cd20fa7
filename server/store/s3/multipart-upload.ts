import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { bodyBytesPassed } from '../../../platform/body-buffers.ts';
import { S3CallFailed, type S3Connection } from './connection.ts';

/** A client may send single bytes: so many pieces are joined at once however small, or their buffers would outweigh them. */
const PIECES = 1024;
const SMALL = 4096;

export interface BodyPart {
  readonly bytes: Buffer;
  /** In base64, as `Content-MD5` wants it. */
  readonly md5: string;
  readonly last: boolean;
}

/** A body in parts of exactly `size` bytes, the last one shorter or as long; at least one. A part is yielded when it is known whether it is the last. */
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

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (piece.length >= SMALL) {
      this.#joinSmall();
      this.#take(piece);
      return;
    }
    if (this.#small.push(piece) >= PIECES) this.#joinSmall();
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

  /** Hashed as it comes: a whole part at once would hold up the event loop for 15 ms. */
  #take(block: Buffer): void {
    this.#hash.update(block);
    this.#blocks.push(block);
  }
}

/** How many parts may be on their way beyond the one that every upload may send at any time. */
export class Slots {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot if one is free; what is returned gives it back. */
  take(): (() => void) | undefined {
    if (this.#free === 0) return undefined;
    this.#free -= 1;
    return () => {
      this.#free += 1;
    };
  }
}

/** An object to be written; `Metadata.write` is this write's own, by which it recognises its object after a lost answer. */
export interface ObjectWrite {
  readonly Bucket: string;
  readonly Key: string;
  readonly Metadata: { readonly write: string };
  readonly ContentType: string;
}

/** S3's own limit. */
const MOST_PARTS = 10_000;
/** Of one upload: the slots are everybody's. */
const PARTS_AT_ONCE = 3;

/** One upload of a large body. Nothing of it can be read before `complete` has resolved. */
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

  static async begin(connection: S3Connection, slots: Slots, write: ObjectWrite): Promise<MultipartUpload> {
    const { UploadId } = await connection.call('begin an upload', (client, options) =>
      client.send(new CreateMultipartUploadCommand(write), options),
    );
    if (UploadId === undefined) throw new Error("the blobs' S3 began an upload without an id");
    return new MultipartUpload(connection, slots, write, UploadId);
  }

  /**
   * Takes the next part. Resolves when the caller may gather the next one: at once where a slot is free, else when this part has been
   * sent, so that an upload always gets on with the memory of a single part, however many others there are.
   */
  async add(part: BodyPart): Promise<void> {
    while (this.#sending.size >= PARTS_AT_ONCE) await Promise.race(this.#sending);
    this.#throwFailure();
    this.#count += 1;
    if (this.#count > MOST_PARTS)
      throw new Error(`the body has more than ${MOST_PARTS} parts of ${part.bytes.length} bytes: upload it in parts`);
    const release = this.#slots.take();
    const sent = this.#send(this.#count, part);
    if (release === undefined) return sent;
    // Looked at by the next `add` or by `complete`.
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

  /** Throws `S3CallFailed`, `absent` where an earlier attempt may have completed it. */
  async complete(): Promise<void> {
    await Promise.all(this.#sending);
    this.#throwFailure();
    const Parts = this.#parts.toSorted((a, b) => a.PartNumber - b.PartNumber);
    await this.#connection.call(
      'complete an upload',
      (client, options) =>
        client.send(
          new CompleteMultipartUploadCommand({ ...this.#target, IfNoneMatch: '*', MultipartUpload: { Parts } }),
          options,
        ),
      // Some servers copy all parts before they answer.
      { timeout: this.#connection.patience.upload },
    );
  }

  /** Takes back what was sent. Where that cannot be done now, the sweeper finds the upload. */
  async abort(): Promise<void> {
    this.#stop.abort();
    // A part that comes after the end of its upload would stay.
    await Promise.allSettled(this.#sending);
    try {
      await this.#connection.call('abort an upload', (client, options) =>
        client.send(new AbortMultipartUploadCommand(this.#target), options),
      );
    } catch (error) {
      if (!(error instanceof S3CallFailed)) throw error;
    }
  }

  async #send(number: number, { bytes, md5 }: BodyPart): Promise<void> {
    const { ETag } = await this.#connection.call(
      `upload part ${number}`,
      (client, options) =>
        client.send(
          new UploadPartCommand({ ...this.#target, PartNumber: number, Body: bytes, ContentMD5: md5 }),
          options,
        ),
      { timeout: this.#connection.patience.upload, abortSignal: this.#stop.signal },
    );
    if (ETag === undefined) throw new Error("the blobs' S3 took a part without giving its ETag");
    this.#parts.push({ PartNumber: number, ETag });
    bodyBytesPassed(bytes.length);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
