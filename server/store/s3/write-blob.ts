import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand, type StorageClass } from '@aws-sdk/client-s3';
import type { BlobId } from '../blob-store.ts';
import { blobObjectKey } from './list-blobs.ts';
import { type BodyPart, inParts, MultipartUpload, type Slots, type ObjectWrite } from './multipart-upload.ts';
import { type S3Connection } from './connection.ts';
import { ofBytes, ofObject } from './errors.ts';
import { callFailure } from '../store-error.ts';

/**
 * Writes a blob as one object: in one request if it fits in a part, else as a multipart upload with parts of `partBytes`.
 *
 * It holds the chunks and the joined bytes of one part in memory, and sends further parts concurrently only while `slots` has permits.
 *
 * `mustBeHome` rejects if the bucket is not that of the deployment. Each attempt of PutObject and of CreateMultipartUpload asks it first, since
 * minutes may pass while the body arrives. The later requests of an upload name its id, which no other bucket knows.
 */
export async function writeBlob(
  connection: S3Connection,
  id: BlobId,
  body: AsyncIterable<Buffer>,
  options: { readonly partBytes: number; readonly slots: Slots; readonly mustBeHome: () => Promise<void> },
): Promise<{ readonly size: number }> {
  const { bucket, prefix, storageClass } = connection.address;
  const write: ObjectWrite = {
    Bucket: bucket,
    Key: blobObjectKey(prefix, id),
    Metadata: { write: randomUUID() },
    ContentType: 'application/octet-stream',
    ...(storageClass !== undefined && { StorageClass: storageClass as StorageClass }),
  };
  let size = 0;
  let upload: MultipartUpload | undefined;
  try {
    for await (const part of inParts(body, options.partBytes)) {
      size += part.bytes.length;
      if (part.last && upload === undefined) {
        await appear(connection, id, write, () => put(connection, write, part, options.mustBeHome));
        return { size };
      }
      upload ??= await MultipartUpload.begin(connection, write, options);
      await upload.add(part);
    }
    await appear(connection, id, write, async () => upload?.complete());
    return { size };
  } catch (error) {
    await upload?.abort();
    throw error;
  }
}

function put(
  connection: S3Connection,
  write: ObjectWrite,
  { bytes, md5 }: BodyPart,
  mustBeHome: () => Promise<void>,
): Promise<unknown> {
  return connection.call(
    'write',
    async (client, options) => {
      await mustBeHome();
      return ofBytes(
        await client.send(
          new PutObjectCommand({
            ...write,
            Body: bytes,
            ContentLength: bytes.length,
            ContentMD5: md5,
            IfNoneMatch: '*',
          }),
          options,
        ),
        md5,
      );
    },
    { timeout: connection.timeouts.upload },
  );
}

/** Runs the request that makes the object visible. After a lost response it checks if the object is there. */
async function appear(
  connection: S3Connection,
  id: BlobId,
  write: ObjectWrite,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    const kind = callFailure(error)?.kind;
    if (kind === undefined) throw error;
    // The object exists, or the upload is gone. Either an earlier attempt did that and its response was lost, or another client did.
    if ((kind === 'condition' || kind === 'absent') && (await isOurs(connection, write))) return;
    if (kind === 'condition') throw new Error(`blob ${id} exists already: ids are never used twice`, { cause: error });
    if (kind === 'passing') await takeBack(connection, write);
    throw error;
  }
}

async function isOurs(connection: S3Connection, write: ObjectWrite, once = false): Promise<boolean> {
  try {
    const { Metadata } = await connection.call(
      'look for what was written',
      async (client, options) => {
        const target = { Bucket: write.Bucket, Key: write.Key };
        return ofObject(await client.send(new HeadObjectCommand(target), options));
      },
      { once },
    );
    return Metadata?.['write'] === write.Metadata.write;
  } catch (error) {
    if (callFailure(error)?.kind === 'absent') return false;
    throw error;
  }
}

/** Removes the object of a failed write, in one attempt. If that fails too, garbage collection removes it, since it has no owner. */
async function takeBack(connection: S3Connection, write: ObjectWrite): Promise<void> {
  try {
    if (!(await isOurs(connection, write, true))) return;
    const target = { Bucket: write.Bucket, Key: write.Key };
    await connection.call('remove', (client, options) => client.send(new DeleteObjectCommand(target), options), {
      once: true,
    });
  } catch (error) {
    if (callFailure(error) === undefined) throw error;
  }
}
