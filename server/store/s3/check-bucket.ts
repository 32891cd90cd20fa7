import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetBucketVersioningCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Logger } from '../../../platform/logger.ts';
import type { BlobId, BlobStore } from '../blob-store.ts';
import { S3CallFailed, type S3Connection } from './s3-connection.ts';

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
