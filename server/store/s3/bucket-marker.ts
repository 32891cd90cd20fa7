import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { defaultTimeouts, S3Connection } from './connection.ts';
import { ofObject } from './errors.ts';
import type { BlobsAddress } from '../../../platform/store-address/store-address.ts';
import { checkpointText, readCheckpointText } from '../checkpoint.ts';
import { type BlobsMarker, checkpointName, markerName, markerText, readMarkerText } from '../blobs-marker.ts';
import { callFailure, type CallFailure } from '../store-error.ts';

type BucketAddress = Extract<BlobsAddress, { kind: 's3' }>;

/** The marker of a prefix in a bucket of another S3. */
export function bucketMarker(address: BucketAddress): BlobsMarker {
  const at = { Bucket: address.bucket, Key: address.prefix + markerName };
  const checkpoint = { Bucket: address.bucket, Key: address.prefix + checkpointName };
  return {
    read() {
      return connected(address, async (connection) => {
        const text = await connection.call('read the marker of the deployment', async (client, options) => {
          const { Body } = ofObject(await client.send(new GetObjectCommand(at), options));
          return (await Body?.transformToString()) ?? '';
        });
        return readMarkerText(text, `s3://${at.Bucket}/${at.Key}`);
      }).catch(unless('absent'));
    },
    async write(deploymentId) {
      const put = { ...at, Body: markerText(deploymentId), ContentType: 'application/json' };
      const writing = (condition: { readonly IfNoneMatch?: '*' }) =>
        connected(address, (connection) =>
          connection.call('write the marker of the deployment', async (client, options) => {
            ofObject(await client.send(new PutObjectCommand({ ...put, ...condition }), options));
          }),
        ).catch(unless('condition'));
      try {
        await writing({ IfNoneMatch: '*' });
      } catch (error) {
        // Some servers do not support the condition. The record of the deployment still decides between its own servers.
        if (!notImplemented.has(callFailure(error)?.code ?? '')) throw error;
        await writing({});
      }
    },
    readCheckpoint() {
      return connected(address, async (connection) => {
        const text = await connection.call('read the checkpoint', async (client, options) => {
          const { Body } = ofObject(await client.send(new GetObjectCommand(checkpoint), options));
          return (await Body?.transformToString()) ?? '';
        });
        return readCheckpointText(text);
      }).catch(unless('absent'));
    },
    async writeCheckpoint(next) {
      const put = { ...checkpoint, Body: checkpointText(next), ContentType: 'application/json' };
      await connected(address, (connection) =>
        connection.call('write the checkpoint', async (client, options) => {
          ofObject(await client.send(new PutObjectCommand(put), options));
        }),
      );
    },
  };
}

const notImplemented = new Set(['NotImplemented', 'HTTP 501']);

async function connected<T>(address: BucketAddress, work: (connection: S3Connection) => Promise<T>): Promise<T> {
  const connection = new S3Connection(address, defaultTimeouts);
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/** Turns a failure of one kind into undefined. */
function unless(kind: CallFailure['kind']): (error: unknown) => undefined {
  return (error) => {
    if (callFailure(error)?.kind === kind) return undefined;
    throw error;
  };
}
