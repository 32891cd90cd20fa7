import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { StoreUnavailable } from '../record-store.ts';
import type { BlobsAddress } from '../store-address.ts';
import type { BlobsMarker } from './blobs-marker.ts';
import { markerName } from './blobs-marker.ts';
import { markerText, readMarkerText } from './marker-text.ts';

type BucketAddress = Extract<BlobsAddress, { kind: 's3' }>;

/** Milliseconds that one question may take. */
const patience = 10_000;

/** The marker of a prefix in a bucket of another S3. */
export function bucketMarker(address: BucketAddress): BlobsMarker {
  const at = { Bucket: address.bucket, Key: address.prefix + markerName };
  const place = `s3://${at.Bucket}/${at.Key}`;
  return {
    async read() {
      return asking(address, async (client, abortSignal) => {
        try {
          const { Body } = await client.send(new GetObjectCommand(at), { abortSignal });
          return readMarkerText((await Body?.transformToString()) ?? '', place);
        } catch (error) {
          if (nameOf(error) === 'NoSuchKey') return undefined;
          throw error;
        }
      });
    },
    async write(deploymentId) {
      const put = { ...at, Body: markerText(deploymentId), ContentType: 'application/json' };
      await asking(address, async (client, abortSignal) => {
        try {
          await client.send(new PutObjectCommand({ ...put, IfNoneMatch: '*' }), { abortSignal });
        } catch (error) {
          if (statusOf(error) === 412 || statusOf(error) === 409) return;
          // Some do not know the condition. The record of the deployment decides between its own servers all the same.
          if (statusOf(error) !== 501) throw error;
          await client.send(new PutObjectCommand(put), { abortSignal });
        }
      });
    },
  };
}

async function asking<T>(
  address: BucketAddress,
  work: (client: S3Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { endpoint, region, accessKey, secretKey } = address;
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    // Others do not take the checksums that AWS does.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
  });
  try {
    return await work(client, AbortSignal.timeout(patience));
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    const where = `the bucket ${address.bucket}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
    const name = nameOf(error);
    const why = name === 'NoSuchBucket' ? 'there is none of this name' : `${name}: ${messageOf(error)}`;
    throw new StoreUnavailable('unreachable', `${where} cannot be used for blobs: ${why}`, { cause: error });
  } finally {
    client.destroy();
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode;
}
