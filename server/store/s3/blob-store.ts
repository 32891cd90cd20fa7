import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  GetBucketVersioningCommand,
  ListObjectsV2Command,
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import type { Logger } from '../../../platform/logger.ts';
import type { BlobId, BlobStore, BlobBytes } from '../blob-store.ts';
import { S3CallFailed, S3Connection, type Patience, usualPatience, type S3Address } from './connection.ts';
import type { Pieces } from '../../../platform/pieces.ts';
import { blobObjectKey, type ListedBlob, listObjects, listUploads } from './list-blobs.ts';
import { lendBlob, readBlob } from './read-blob.ts';
import { Slots } from './multipart-upload.ts';
import { writeBlob } from './write-blob.ts';

/**
 * Does once what the server will have to do: what is wrong with the address, the credentials or their rights shows at the start and
 * not at the first upload. Its blob is one without an owner, should it stay.
 *
 * Throws `S3CallFailed`.
 */
export async function checkBucket(connection: S3Connection, store: BlobStore, log: Logger): Promise<void> {
  const { bucket, prefix } = connection.address;
  // Before all else: where only the bucket's name is wrong, it says so.
  await connection.call('list', (client, options) =>
    client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), options),
  );
  const id = probeId();
  await store.write(id, Readable.from([Buffer.from('Coffer was here')]));
  await store.read(id, { start: 0, end: 1 }).toArray();
  await store.remove(id);
  await warnOfVersions(connection, log);
}

/** Each removal would leave a version, and the space would never come back. Whoever may not ask is not warned. */
async function warnOfVersions(connection: S3Connection, log: Logger): Promise<void> {
  const { bucket } = connection.address;
  try {
    const { Status } = await connection.call('see about versions', (client, options) =>
      client.send(new GetBucketVersioningCommand({ Bucket: bucket }), options),
    );
    if (Status !== 'Enabled') return;
  } catch (error) {
    if (error instanceof S3CallFailed) return;
    throw error;
  }
  log.warn(
    { bucket },
    'the bucket for blobs keeps versions: what is deleted goes on taking space; suspend its versioning, or let a lifecycle rule expire noncurrent versions',
  );
}

function probeId(): BlobId {
  return Date.now().toString(16).padStart(12, '0').concat(randomBytes(10).toString('hex')) as BlobId;
}

export interface S3BlobOptions extends S3Address {
  readonly log: Logger;
  /** For tests. */
  readonly patience?: Patience;
  /** Bytes of each part of a multipart upload but the last, and the most that goes in one request. */
  readonly partBytes?: number;
}

/** 10,000 of them, as many as an upload may have, are 78 GiB; AWS takes none below 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024;
/** With the parts above: 64 MiB on their way, beside the one that each upload may always have. */
const SLOTS = 8;

/**
 * Blobs as objects of a bucket of another S3. Tries at once whether all that the store needs is there and allowed.
 *
 * Throws `StoreUnavailable`, whose message says where, what that S3 answered and what to do.
 */
export async function openS3BlobStore({ log, patience, partBytes, ...address }: S3BlobOptions): Promise<BlobStore> {
  const connection = new S3Connection(address, patience ?? usualPatience);
  const store = new S3BlobStore(connection, partBytes ?? PART_BYTES);
  try {
    await checkBucket(connection, store, log);
  } catch (error) {
    connection.close();
    throw error;
  }
  return store;
}

class S3BlobStore implements BlobStore {
  readonly #connection: S3Connection;
  readonly #partBytes: number;
  readonly #slots = new Slots(SLOTS);
  /** Blobs that `list` saw as uploads: there are few, and only they need more than one request to be removed. */
  readonly #halfWritten = new Set<BlobId>();

  constructor(connection: S3Connection, partBytes: number) {
    this.#connection = connection;
    this.#partBytes = partBytes;
  }

  write(id: BlobId, body: AsyncIterable<Buffer>): Promise<{ readonly size: number }> {
    return writeBlob(this.#connection, id, body, { partBytes: this.#partBytes, slots: this.#slots });
  }

  read(id: BlobId, range: BlobBytes): Readable {
    return readBlob(this.#connection, id, range);
  }

  lend(id: BlobId, range: BlobBytes): Pieces {
    return lendBlob(this.#connection, id, range);
  }

  async remove(id: BlobId): Promise<void> {
    const target = { Bucket: this.#connection.address.bucket, Key: blobObjectKey(this.#connection.address.prefix, id) };
    // Uploads first: completed in between, one would leave an object.
    if (this.#halfWritten.has(id)) await this.#abortUploads(target);
    await this.#unlessAbsent(
      this.#connection.call(`remove blob ${id}`, (client, options) =>
        client.send(new DeleteObjectCommand(target), options),
      ),
    );
    this.#halfWritten.delete(id);
  }

  /** Uploads before objects: one that is completed in between is seen twice, and never not at all. */
  async *list(): AsyncIterable<ListedBlob> {
    for await (const blob of listUploads(this.#connection)) {
      this.#halfWritten.add(blob.id);
      yield blob;
    }
    yield* listObjects(this.#connection);
  }

  /** A bucket does not tell. */
  space(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async #abortUploads(target: { readonly Bucket: string; readonly Key: string }): Promise<void> {
    const { Uploads = [] } = await this.#connection.call('list uploads', (client, options) =>
      client.send(new ListMultipartUploadsCommand({ Bucket: target.Bucket, Prefix: target.Key }), options),
    );
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
      if (!(error instanceof S3CallFailed && error.failure.kind === 'absent')) throw error;
    }
  }
}
