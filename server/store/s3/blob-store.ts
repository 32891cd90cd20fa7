import { newId } from '../slot.ts';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  GetBucketVersioningCommand,
  ListObjectsV2Command,
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import type { Logger } from '../../../platform/output/logger.ts';
import type { BlobId, BlobRange, BlobStore, WriteOptions } from '../blob-store.ts';
import { S3Connection, type CallTimeouts, defaultTimeouts, type S3Address } from './connection.ts';
import { eachChunk, type Chunks } from '../../streams/chunks.ts';
import { blobObjectKey, type ListedBlob, listObjects, listUploads } from './list-blobs.ts';
import { ofListing } from './errors.ts';
import { DeploymentBucket } from './deployment-bucket.ts';
import { readBlob } from './read-blob.ts';
import { Slots } from './multipart-upload.ts';
import { writeBlob } from './write-blob.ts';
import { copiedBody } from '../copied-body.ts';
import { callFailure } from '../store-error.ts';

/**
 * Makes each kind of call once, so that a wrong address, credential or permission shows at the start and not at the first upload. If
 * its blob remains, garbage collection removes it, since it has no owner.
 *
 * Throws `StoreError` with the failure.
 */
export async function checkBucket(connection: S3Connection, store: BlobStore, log: Logger): Promise<void> {
  const { bucket, prefix } = connection.address;
  // This call comes first, because it reports a wrong bucket name.
  await connection.call('list', async (client, options) => {
    const answer = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), options);
    ofListing(answer, answer.NextContinuationToken);
  });
  await checkCalls(store);
  await warnOfVersions(connection, log);
}

/** Writes, reads and removes a blob. */
export async function checkCalls(store: BlobStore): Promise<void> {
  const id = probeId();
  await store.write(id, Readable.from([Buffer.from('Coffer was here')]));
  for await (const _chunk of eachChunk(store.read(id, { start: 0, end: 1 })));
  await store.remove(id);
}

/** Warns of a bucket with versioning, where removals free no space. Without permission to ask there is no warning. */
async function warnOfVersions(connection: S3Connection, log: Logger): Promise<void> {
  const { bucket } = connection.address;
  try {
    const { Status } = await connection.call('read the versioning', (client, options) =>
      client.send(new GetBucketVersioningCommand({ Bucket: bucket }), options),
    );
    if (Status !== 'Enabled') return;
  } catch (error) {
    if (callFailure(error) !== undefined) return;
    throw error;
  }
  log.warn(
    { bucket },
    'the bucket for blobs keeps versions: removals free no space; suspend its versioning, or let a lifecycle rule expire noncurrent versions',
  );
}

function probeId(): BlobId {
  return newId(Date.now(), randomBytes) as BlobId;
}

export interface S3BlobOptions extends S3Address {
  readonly log: Logger;
  /** Returns the deployment that the marker in the bucket must name, once it is known. */
  readonly deployment?: (() => string | undefined) | undefined;
  /** For tests. */
  readonly timeouts?: CallTimeouts;
  /** The size of each part of a multipart upload except the last, and the maximum size of a single request. */
  readonly partBytes?: number;
}

/** An upload may have 10,000 parts, which are 78 GiB. AWS requires at least 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024;
/** Milliseconds after which readiness, a write and a removal look at the marker again. */
const checkEveryMs = 5_000;
/** Parts in flight: 64 MiB, in addition to the one part of each upload. */
const SLOTS = 8;

/**
 * Keeps blobs as objects in a bucket of another S3. It checks at once that every call that the store needs is allowed.
 *
 * Throws `StoreError`. The message names the place, the response of that S3 and what to do.
 */
export async function openS3BlobStore(options: S3BlobOptions): Promise<BlobStore> {
  const { log, timeouts, partBytes, deployment, ...address } = options;
  const connection = new S3Connection(address, timeouts ?? defaultTimeouts);
  const store = new S3BlobStore(connection, partBytes, deployment);
  try {
    await checkBucket(connection, store, log);
  } catch (error) {
    connection.close();
    throw error;
  }
  return store;
}

/** Keeps blobs as objects in a bucket, without a check of the bucket. */
export function s3BlobStore(connection: S3Connection, partBytes?: number): BlobStore {
  return new S3BlobStore(connection, partBytes);
}

class S3BlobStore implements BlobStore {
  readonly #connection: S3Connection;
  readonly #partBytes: number;
  readonly #home: DeploymentBucket;
  readonly #slots = new Slots(SLOTS);
  /** The blobs that `list` saw as uploads. They are few, and only they need more than one request to be removed. */
  readonly #halfWritten = new Set<BlobId>();

  constructor(
    connection: S3Connection,
    partBytes = PART_BYTES,
    deployment: () => string | undefined = () => undefined,
  ) {
    this.#connection = connection;
    this.#partBytes = partBytes;
    this.#home = new DeploymentBucket(connection, deployment);
  }

  async write(
    id: BlobId,
    body: AsyncIterable<Buffer>,
    { release }: WriteOptions = {},
  ): Promise<{ readonly size: number }> {
    // A part is sent as a whole, so its chunks must be copied if their memory is only borrowed.
    const chunks = release === undefined ? body : copiedBody(body, release);
    return writeBlob(this.#connection, id, chunks, {
      partBytes: this.#partBytes,
      slots: this.#slots,
      mustBeHome: () => this.check(),
    });
  }

  read(id: BlobId, range: BlobRange): Chunks {
    return readBlob(this.#connection, id, range, () => this.#home.check());
  }

  async remove(id: BlobId): Promise<void> {
    await this.check();
    const target = { Bucket: this.#connection.address.bucket, Key: blobObjectKey(this.#connection.address.prefix, id) };
    // Uploads come first: one that is completed in between leaves an object, which is removed next.
    if (this.#halfWritten.has(id)) await this.#abortUploads(target);
    await this.#unlessAbsent(
      this.#connection.call(`remove blob ${id}`, async (client, options) => {
        const { $metadata } = await client.send(new DeleteObjectCommand(target), options);
        if ($metadata.httpStatusCode !== 204 && $metadata.requestId === undefined) {
          throw Object.assign(new Error('the answer is not that of an S3'), { $metadata });
        }
      }),
    );
    this.#halfWritten.delete(id);
  }

  /** Lists uploads before objects, so that an upload that is completed in between is listed twice and never missed. */
  async *list(): AsyncIterable<ListedBlob> {
    await this.#home.check();
    for await (const blob of listUploads(this.#connection)) {
      this.#halfWritten.add(blob.id);
      yield blob;
    }
    yield* listObjects(this.#connection);
  }

  check(): Promise<void> {
    return this.#home.check(checkEveryMs);
  }

  renew(): Promise<void> {
    this.#connection.renew();
    return Promise.resolve();
  }

  /** S3 does not report free space. */
  space(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async #abortUploads(target: { readonly Bucket: string; readonly Key: string }): Promise<void> {
    const { Uploads = [] } = await this.#connection.call('list uploads', async (client, options) => {
      const command = { Bucket: target.Bucket, Prefix: target.Key };
      const answer = await client.send(new ListMultipartUploadsCommand(command), options);
      return ofListing(answer, answer.NextKeyMarker);
    });
    for (const { Key, UploadId } of Uploads) {
      if (Key !== target.Key) continue;
      await this.#unlessAbsent(
        this.#connection.call('abort an upload', (client, options) =>
          client.send(new AbortMultipartUploadCommand({ ...target, UploadId }), options),
        ),
      );
    }
  }

  async #unlessAbsent(removal: Promise<unknown>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      if (callFailure(error)?.kind !== 'absent') throw error;
    }
  }
}
