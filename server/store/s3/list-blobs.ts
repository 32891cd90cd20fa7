import {
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3';
import { isBlobId, type BlobId } from '../blob-store.ts';
import { type S3Connection } from './connection.ts';
import { ofListing } from './errors.ts';
import { callFailure } from '../store-error.ts';

/**
 * Returns the key of a blob's object. The last byte of the id, which is random, comes before the whole id, which begins with the time.
 * Without it, an S3 that partitions by ranges of keys would have one busy range.
 */
export function blobObjectKey(prefix: string, id: BlobId): string {
  // The id becomes part of a key.
  if (!isBlobId(id)) throw new TypeError(`${JSON.stringify(id)} is not a blob id`);
  return `${prefix}${id.slice(-2)}/${id}`;
}

/** Returns the blob whose object has the key, or undefined for any other key. */
function blobOfKey(prefix: string, key: string | undefined): BlobId | undefined {
  const id = key?.slice(prefix.length + 3);
  return id !== undefined && isBlobId(id) && key === blobObjectKey(prefix, id) ? id : undefined;
}

export interface ListedBlob {
  readonly id: BlobId;
  readonly size: number;
  readonly ageMs: number;
}

/** Lists the whole blobs. */
export async function* listObjects(connection: S3Connection): AsyncGenerator<ListedBlob> {
  const { prefix } = connection.address;
  for await (const page of listPages(connection)) {
    const now = connection.timeOf(page);
    for (const { Key, Size = 0, LastModified } of page.Contents ?? []) {
      const id = blobOfKey(prefix, Key);
      if (id !== undefined) yield { id, size: Size, ageMs: age(LastModified, now) };
    }
  }
}

/** Lists the keys of all objects below the prefix, also of those that are not blobs. */
export async function* listKeys(connection: S3Connection): AsyncGenerator<string> {
  for await (const { Contents = [] } of listPages(connection)) for (const { Key = '' } of Contents) yield Key;
}

async function* listPages(connection: S3Connection): AsyncGenerator<ListObjectsV2CommandOutput> {
  const { bucket, prefix } = connection.address;
  let token: string | undefined;
  do {
    const command = { Bucket: bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) };
    const page = await connection.call('list', async (client, options) => {
      const answer = await client.send(new ListObjectsV2Command(command), options);
      return ofListing(answer, answer.NextContinuationToken);
    });
    yield page;
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

/**
 * Lists unfinished multipart uploads, with size 0: S3 does not list the size of their parts.
 *
 * This lists the uploads of the whole bucket, because MinIO treats the prefix as the name of an object.
 */
export async function* listUploads(connection: S3Connection): AsyncGenerator<ListedBlob> {
  const { bucket, prefix } = connection.address;
  let after: { KeyMarker: string; UploadIdMarker?: string } | undefined;
  do {
    const command = { Bucket: bucket, ...after };
    const page = await connection
      .call('list uploads', async (client, options) => {
        const answer = await client.send(new ListMultipartUploadsCommand(command), options);
        return ofListing(answer, answer.NextKeyMarker);
      })
      .catch(unlessUnknown);
    const now = connection.timeOf(page);
    for (const { Key, Initiated } of page.Uploads ?? []) {
      const id = blobOfKey(prefix, Key);
      if (id !== undefined) yield { id, size: 0, ageMs: age(Initiated, now) };
    }
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    after =
      IsTruncated === true && NextKeyMarker !== undefined
        ? {
            KeyMarker: NextKeyMarker,
            ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
          }
        : undefined;
  } while (after !== undefined);
}

/** Uses only the clock of the other server, which dates both objects and responses. */
function age(since: Date | undefined, now: number): number {
  return since === undefined ? 0 : Math.max(0, now - since.getTime());
}

/** Some servers cannot list uploads and abort old ones by themselves. */
function unlessUnknown(error: unknown): ListMultipartUploadsCommandOutput {
  if (callFailure(error)?.code === 'NotImplemented') return { $metadata: {} };
  throw error;
}
