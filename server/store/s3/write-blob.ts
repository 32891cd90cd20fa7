import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { BlobId } from '../blob-store.ts';
import { blobObjectKey } from './list-blobs.ts';
import { type BodyPart, inParts, MultipartUpload, type Slots, type ObjectWrite } from './multipart-upload.ts';
import { S3CallFailed, type S3Connection } from './connection.ts';

/**
 * Writes a blob as one object: in one request where it fits into a part, else as a multipart upload with parts of `partBytes`.
 *
 * Memory: one part that is being gathered or sent, its pieces and the joined bytes at most at once; further parts on their way only
 * as far as there are slots.
 */
export async function writeBlob(
  connection: S3Connection,
  id: BlobId,
  body: AsyncIterable<Buffer>,
  options: { readonly partBytes: number; readonly slots: Slots },
): Promise<{ readonly size: number }> {
  const { bucket, prefix } = connection.address;
  const write: ObjectWrite = {
    Bucket: bucket,
    Key: blobObjectKey(prefix, id),
    Metadata: { write: randomUUID() },
    ContentType: 'application/octet-stream',
  };
  let size = 0;
  let upload: MultipartUpload | undefined;
  try {
    for await (const part of inParts(body, options.partBytes)) {
      size += part.bytes.length;
      if (part.last && upload === undefined) {
        await appear(connection, id, write, () => put(connection, write, part));
        return { size };
      }
      upload ??= await MultipartUpload.begin(connection, options.slots, write);
      await upload.add(part);
    }
    await appear(connection, id, write, async () => upload?.complete());
    return { size };
  } catch (error) {
    await upload?.abort();
    throw error;
  }
}

function put(connection: S3Connection, write: ObjectWrite, { bytes, md5 }: BodyPart): Promise<unknown> {
  return connection.call(
    'write',
    (client, options) =>
      client.send(
        new PutObjectCommand({
          ...write,
          Body: bytes,
          ContentLength: bytes.length,
          ContentMD5: md5,
          IfNoneMatch: '*',
        }),
        options,
      ),
    { timeout: connection.patience.upload },
  );
}

/** Makes the object appear, and settles what a lost answer leaves open: whether it did. */
async function appear(
  connection: S3Connection,
  id: BlobId,
  write: ObjectWrite,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof S3CallFailed)) throw error;
    const { kind } = error.failure;
    // The object is there, or the upload is gone: by an attempt whose answer was lost, or somebody else's doing.
    if ((kind === 'condition' || kind === 'absent') && (await isOurs(connection, write))) return;
    if (kind === 'condition')
      throw new Error(`blob ${id} is there already: ids are never used twice`, { cause: error });
    if (kind === 'passing') await takeBack(connection, write);
    throw error;
  }
}

async function isOurs(connection: S3Connection, write: ObjectWrite, once = false): Promise<boolean> {
  try {
    const { Metadata } = await connection.call(
      'look for what was written',
      (client, options) => client.send(new HeadObjectCommand({ Bucket: write.Bucket, Key: write.Key }), options),
      { once },
    );
    return Metadata?.['write'] === write.Metadata.write;
  } catch (error) {
    if (error instanceof S3CallFailed && error.failure.kind === 'absent') return false;
    throw error;
  }
}

/** The request fails though its object may be there: one attempt to remove it. Otherwise it has no owner, and the sweeper does. */
async function takeBack(connection: S3Connection, write: ObjectWrite): Promise<void> {
  try {
    if (!(await isOurs(connection, write, true))) return;
    const target = { Bucket: write.Bucket, Key: write.Key };
    await connection.call('remove', (client, options) => client.send(new DeleteObjectCommand(target), options), {
      once: true,
    });
  } catch (error) {
    if (!(error instanceof S3CallFailed)) throw error;
  }
}
