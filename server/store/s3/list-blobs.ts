import {
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { isBlobId, type BlobId } from '../blob-store.ts';
import { S3CallFailed, type S3Connection } from './connection.ts';

/**
 * The key of a blob's object: by the last byte of the id, which is random, before the whole id, which begins with the time. An S3
 * that keeps ranges of keys together would have one busy range otherwise.
 */
export function blobObjectKey(prefix: string, id: BlobId): string {
  // An id becomes a key: nothing else may.
  if (!isBlobId(id)) throw new TypeError(`${JSON.stringify(id)} is no blob id`);
  return `${prefix}${id.slice(-2)}/${id}`;
}

/** The blob whose object has the key; `undefined` for a key of somebody else's. */
function blobOfKey(prefix: string, key: string | undefined): BlobId | undefined {
  const id = key?.slice(prefix.length + 3);
  return id !== undefined && isBlobId(id) && key === blobObjectKey(prefix, id) ? id : undefined;
}

export interface ListedBlob {
  readonly id: BlobId;
  readonly size: number;
  readonly ageMs: number;
}

/** Whole blobs, page by page. */
export async function* listObjects(connection: S3Connection): AsyncGenerator<ListedBlob> {
  const { bucket, prefix } = connection.address;
  let token: string | undefined;
  do {
    const command = { Bucket: bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) };
    const page = await connection.call('list', (client, options) =>
      client.send(new ListObjectsV2Command(command), options),
    );
    const now = connection.timeOf(page);
    for (const { Key, Size = 0, LastModified } of page.Contents ?? []) {
      const id = blobOfKey(prefix, Key);
      if (id !== undefined) yield { id, size: Size, ageMs: age(LastModified, now) };
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

/**
 * Uploads that were begun and not completed. The size of what they hold is not told.
 *
 * Those of the whole bucket are asked for: MinIO takes a prefix for the name of an object.
 */
export async function* listUploads(connection: S3Connection): AsyncGenerator<ListedBlob> {
  const { bucket, prefix } = connection.address;
  let after: { KeyMarker: string; UploadIdMarker?: string } | undefined;
  do {
    const command = { Bucket: bucket, ...after };
    const page = await connection
      .call('list uploads', (client, options) => client.send(new ListMultipartUploadsCommand(command), options))
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

/** By the other server's clock alone: it dates objects to the second, and its answers too. */
function age(since: Date | undefined, now: number): number {
  return since === undefined ? 0 : Math.max(0, now - since.getTime());
}

/** Some servers cannot list uploads, and end old ones by themselves. */
function unlessUnknown(error: unknown): ListMultipartUploadsCommandOutput {
  if (error instanceof S3CallFailed && error.failure.code === 'NotImplemented') return { $metadata: {} };
  throw error;
}
