import type { Logger } from '../../platform/output/logger.ts';
import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { checkBucket, checkCalls, s3BlobStore } from '../store/s3/blob-store.ts';
import { type CallTimeouts, S3Connection, defaultTimeouts } from '../store/s3/connection.ts';
import { listKeys } from '../store/s3/list-blobs.ts';
import { isStoreError, StoreError } from '../store/store-error.ts';
import type { AzureTimeouts } from './azure/azure-blob-store.ts';
import type { GoogleTimeouts } from './google/google-blob-store.ts';
import type { TierConfiguration } from './tier-configurations.ts';

/** The store of a tier, with the connection that it uses. */
export interface TierConnection {
  readonly store: BlobStore;
  readonly close: () => void;
}

type TierAddress = Omit<TierConfiguration, 'number'>;

/** A client waits for the bytes, and each of its requests would wait again. */
const tierTimeouts: CallTimeouts = { ...defaultTimeouts, refused: 500 };

/** Makes a connection to the bucket of a tier. It makes no call yet. */
export async function connectTier(tier: TierAddress): Promise<TierConnection> {
  if (tier.type === 'azure') return { store: await azureStore(tier), close: () => undefined };
  if (tier.type === 'gcs') return { store: await googleStore(tier), close: () => undefined };
  const connection = connectionTo(tier, tierTimeouts);
  return { store: s3BlobStore(connection), close: () => connection.close() };
}

/** The client of Azure is loaded for the first tier of its kind. */
/** A store that lists the objects of others too. */
interface NamedStore extends BlobStore {
  names(): AsyncIterable<string>;
}

async function azureStore(tier: TierAddress, timeouts?: AzureTimeouts): Promise<NamedStore> {
  const { AzureBlobStore } = await import('./azure/azure-blob-store.ts');
  const { name, endpoint, bucket, prefix, storageClass, accessKey, secretKey } = tier;
  const address = {
    what: `the tier ${name}`,
    endpoint,
    container: bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    accessTier: storageClass,
    accountName: accessKey,
    accountKey: secretKey,
  };
  return new AzureBlobStore(address, timeouts);
}

/** The client of Google is loaded for the first tier of its kind. */
async function googleStore(tier: TierAddress, timeouts?: GoogleTimeouts): Promise<NamedStore> {
  const [{ GoogleBlobStore }, { accountTokens, parseServiceAccount }] = await Promise.all([
    import('./google/google-blob-store.ts'),
    import('./google/service-account.ts'),
  ]);
  const { name, endpoint, bucket, prefix, storageClass, secretKey } = tier;
  const account = parseServiceAccount(secretKey);
  if (account === undefined) throw new S3Error('XMinioAdminTierInvalidCredentials');
  const address = {
    what: `the tier ${name}`,
    endpoint,
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    storageClass,
    token: accountTokens(account),
  };
  return new GoogleBlobStore(address, timeouts);
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

const checkAzureTimeouts: AzureTimeouts = { answer: 4_000, idle: 4_000, tries: 1 };
const checkGoogleTimeouts: GoogleTimeouts = { answer: 4_000, idle: 4_000, tries: 1, pause: 50 };

interface CheckOptions {
  /** True where the bucket must have no object below the prefix. */
  readonly empty: boolean;
  readonly log: Logger;
}

/** Makes each kind of call to the bucket of a tier. Throws `S3Error` with a code of MinIO where one is refused. */
export async function checkTier(tier: TierAddress, options: CheckOptions): Promise<void> {
  if (tier.type === 'azure') await checkStore(await azureStore(tier, checkAzureTimeouts), options);
  else if (tier.type === 'gcs') await checkStore(await googleStore(tier, checkGoogleTimeouts), options);
  else await checkS3(tier, options);
}

async function checkStore(store: NamedStore, { empty }: CheckOptions): Promise<void> {
  try {
    // This call comes first, because it reports a wrong name of the container or bucket.
    for await (const _name of store.names()) {
      if (empty) throw new S3Error('XMinioAdminTierBackendInUse');
      break;
    }
    await checkCalls(store);
  } catch (error) {
    throw translated(error);
  }
}

async function checkS3(tier: TierAddress, { empty, log }: CheckOptions): Promise<void> {
  const connection = connectionTo(tier, checkTimeouts);
  try {
    if (empty) for await (const _key of listKeys(connection)) throw new S3Error('XMinioAdminTierBackendInUse');
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
  // The code of Google.
  InvalidCredentials: 'XMinioAdminTierInvalidCredentials',
  // The codes of Azure.
  ContainerNotFound: 'XMinioAdminTierBucketNotFound',
  AuthenticationFailed: 'XMinioAdminTierInvalidCredentials',
  AuthorizationFailure: 'XMinioAdminTierInsufficientPermissions',
  AuthorizationPermissionMismatch: 'XMinioAdminTierInsufficientPermissions',
};

function translated(error: unknown): unknown {
  if (error instanceof StoreError && error.failure !== undefined) {
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
