import type { Logger } from '../../platform/logger.ts';
import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { checkBucket, s3BlobStore } from '../store/s3/blob-store.ts';
import { type CallTimeouts, S3CallFailed, S3Connection, defaultTimeouts } from '../store/s3/connection.ts';
import { listObjects } from '../store/s3/list-blobs.ts';
import { isStoreError } from '../store/store-error.ts';
import type { TierConfiguration } from './tier-configurations.ts';

/** The store of a tier, with the connection that it uses. */
export interface TierConnection {
  readonly store: BlobStore;
  readonly close: () => void;
}

type TierAddress = Omit<TierConfiguration, 'number'>;

/** Makes a connection to the bucket of a tier. It makes no call yet. */
export function connectTier(tier: TierAddress): TierConnection {
  const connection = connectionTo(tier, defaultTimeouts);
  return { store: s3BlobStore(connection), close: () => connection.close() };
}

function connectionTo(tier: TierAddress, timeouts: CallTimeouts): S3Connection {
  const { name, endpoint, region, bucket, prefix, storageClass, accessKey, secretKey } = tier;
  return new S3Connection(
    {
      what: `the tier ${name}`,
      ...(isAws(endpoint) ? {} : { endpoint }),
      region: region === '' ? 'us-east-1' : region,
      bucket,
      prefix: prefix === '' ? '' : `${prefix}/`,
      accessKey,
      secretKey,
      ...(storageClass !== '' && { storageClass }),
    },
    timeouts,
  );
}

/** The global endpoint of AWS leaves the choice of the host to the SDK, which knows the region. */
function isAws(endpoint: string): boolean {
  return new URL(endpoint).hostname === 's3.amazonaws.com';
}

/** A caller waits for the answer of a check. */
const checkTimeouts: CallTimeouts = { total: 4_000, answer: 4_000, upload: 4_000, idle: 4_000, pause: 50 };

interface CheckOptions {
  /** True where the bucket must have no object below the prefix. */
  readonly empty: boolean;
  readonly log: Logger;
}

/** Makes each kind of call to the bucket of a tier. Throws `S3Error` with a code of MinIO where one is refused. */
export async function checkTier(tier: TierAddress, { empty, log }: CheckOptions): Promise<void> {
  const connection = connectionTo(tier, checkTimeouts);
  try {
    if (empty) for await (const _blob of listObjects(connection)) throw new S3Error('XMinioAdminTierBackendInUse');
    await checkBucket(connection, s3BlobStore(connection), log);
  } catch (error) {
    throw translated(error);
  } finally {
    connection.close();
  }
}

const codes: Readonly<Record<string, S3ErrorCode>> = {
  NoSuchBucket: 'XMinioAdminTierBucketNotFound',
  InvalidAccessKeyId: 'XMinioAdminTierInvalidCredentials',
  SignatureDoesNotMatch: 'XMinioAdminTierInvalidCredentials',
  AccessDenied: 'XMinioAdminTierInsufficientPermissions',
};

function translated(error: unknown): unknown {
  if (error instanceof S3CallFailed) {
    const { code, kind } = error.failure;
    const found = codes[code] ?? (kind === 'passing' ? 'XMinioBackendDown' : 'XMinioAdminTierInvalidConfig');
    return new S3Error(found, sentence(error.message), { cause: error });
  }
  if (isStoreError(error, 'blob-missing', 'blob-truncated', 'blob-altered')) {
    return new S3Error('XMinioAdminTierInvalidConfig', 'The tier does not return what was written to it.', {
      cause: error,
    });
  }
  return error;
}

function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}
