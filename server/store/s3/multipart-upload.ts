import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { bodyBytesPassed } from '../../../platform/body-buffers.ts';
import type { BodyPart } from './in-parts.ts';
import { S3CallFailed, type S3Connection } from './s3-connection.ts';
import type { Slots } from './slots.ts';
import type { ObjectWrite } from './write-blob.ts';

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
