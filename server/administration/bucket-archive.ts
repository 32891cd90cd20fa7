import { parsePublicAccessBlock } from '../../protocol/s3/access/public-access-block.ts';
import type { Right } from '../auth/authorize.ts';
import { bucketNameError } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import {
  bucketDocuments,
  bucketFiles,
  type BucketPart,
  documentWriters,
  type ExportedBuckets,
  type ImportingBuckets,
} from './bucket-documents.ts';
import { writeZip, type ZipEntry } from './zip.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/** The folder of an archive of identities. */
const identityFolder = 'iam-assets';

/** The names of the parts in a report. */
const reportNames: Readonly<Record<BucketPart, string>> = {
  policy: 'policy',
  tags: 'tagging',
  encryption: 'sse',
  cors: 'cors',
  versioning: 'versioning',
  objectLock: 'olock',
  lifecycle: 'lifecycle',
  quota: 'quota',
  notification: 'notification',
  logging: 'logging',
  website: 'website',
  publicAccessBlock: 'publicAccessBlock',
  ownership: 'ownershipControls',
  grants: 'acl',
};

/** Bytes of the uncompressed archive; a bucket has some KiB. */
export const bucketArchiveLimits = { entries: 20_000, size: 64 * 1024 * 1024 } as const;

/** Exports the configuration of one bucket or all, as an archive that MinIO can import. Rejects if the bucket does not exist. */
export async function exportBuckets(objects: ExportedBuckets, bucket: string | undefined, now: Date): Promise<Buffer> {
  const names = bucket === undefined ? (await objects.listBuckets()).map(({ name }) => name) : [bucket];
  const entries: ZipEntry[] = [];
  for (const name of names) {
    for (const [part, text] of await bucketDocuments(objects, name)) {
      entries.push({ name: `${name}/${bucketFiles[part]}`, content: Buffer.from(text) });
    }
  }
  return writeZip(entries, now);
}

/** Rejects unless the caller has the right to the bucket. */
type RequireForBucket = (action: string, resource: string) => Promise<void>;

interface ImportOptions {
  readonly only: string | undefined;
  readonly region: string;
  /** The targets of events that this server has, as `ID:TYPE`. */
  readonly notificationTargets: readonly string[];
  /** Each part needs the right of its S3 operation. */
  readonly require: RequireForBucket;
  /** Rejects unless the caller has the rights to what the server does later. */
  readonly requireAll: (rights: readonly Right[]) => Promise<void>;
}

interface PartReport {
  readonly isSet: boolean;
  readonly error?: string;
}

/** The results by bucket and part, as clients read them; `error` if the bucket could not be created. */
type BucketImportReport = Readonly<Record<string, Readonly<Record<string, PartReport | string>>>>;

/** Creates missing buckets and imports their configuration. A failed bucket does not stop the others. */
export async function importBuckets(
  objects: ImportingBuckets,
  entries: readonly ZipEntry[],
  options: ImportOptions,
): Promise<BucketImportReport> {
  // A map: `constructor` is the name of a bucket as others.
  const report = new Map<string, Readonly<Record<string, PartReport | string>>>();
  const buckets = [...filesOf(entries)].filter(([bucket]) => options.only === undefined || bucket === options.only);
  // Access logs may go to a bucket that comes later.
  for (const [bucket, files] of buckets) {
    const error = isOfBucket(files) ? await missing(objects, bucket, options) : noBucket(bucket);
    if (error !== undefined) report.set(bucket, { error });
  }
  for (const [bucket, files] of buckets) {
    if (!report.has(bucket)) report.set(bucket, await importBucket(objects, bucket, files, options));
  }
  return Object.fromEntries(report);
}

/** An archive of something else has folders too. The entry of a folder itself has no name of a file. */
function isOfBucket(files: ReadonlyMap<string, Buffer>): boolean {
  const names = [...files.keys()].filter((name) => name !== '');
  return names.length === 0 || names.some((name) => readFiles.has(name) || replicationFiles.has(name));
}

function noBucket(folder: string): string {
  const cure = folder === identityFolder ? ': these are identities, which "admin cluster iam import" takes' : '';
  return `it has no file of a bucket${cure}`;
}

function filesOf(entries: readonly ZipEntry[]): ReadonlyMap<string, ReadonlyMap<string, Buffer>> {
  const buckets = new Map<string, Map<string, Buffer>>();
  for (const { name, content } of entries) {
    const [bucket = '', file = ''] = name.split('/', 2);
    const files = buckets.get(bucket) ?? new Map<string, Buffer>();
    buckets.set(bucket, files.set(file, content));
  }
  return buckets;
}

/** Creates the bucket if it is missing; returns the reason if it cannot. */
async function missing(
  objects: ImportingBuckets,
  bucket: string,
  { region: location, require }: Pick<ImportOptions, 'region' | 'require'>,
): Promise<string | undefined> {
  const issue = bucketNameError(bucket);
  if (issue !== undefined) return `it cannot be the name of a bucket: ${issue}`;
  try {
    await objects.headBucket(bucket);
  } catch (error) {
    if (!(error instanceof S3Error) || error.code !== 'NoSuchBucket') throw error;
    const made = await reported(async () => {
      await require('s3:CreateBucket', bucket);
      await objects.createBucket(bucket, { location });
    });
    return made.error;
  }
  return undefined;
}

/** The right of the S3 operation that sets the part. */
const rightOf: Readonly<Record<BucketPart, string>> = {
  policy: 's3:PutBucketPolicy',
  tags: 's3:PutBucketTagging',
  encryption: 's3:PutEncryptionConfiguration',
  cors: 's3:PutBucketCORS',
  versioning: 's3:PutBucketVersioning',
  objectLock: 's3:PutBucketObjectLockConfiguration',
  lifecycle: 's3:PutLifecycleConfiguration',
  quota: 'admin:SetBucketQuota',
  notification: 's3:PutBucketNotification',
  logging: 's3:PutBucketLogging',
  website: 's3:PutBucketWebsite',
  publicAccessBlock: 's3:PutBucketPublicAccessBlock',
  ownership: 's3:PutBucketOwnershipControls',
  grants: 's3:PutBucketAcl',
};

/** Parts for which MinIO also writes an empty document. */
const mayBeEmpty: ReadonlySet<string> = new Set<BucketPart>(['versioning', 'cors', 'quota', 'notification']);

async function importBucket(
  objects: ImportingBuckets,
  bucket: string,
  files: ReadonlyMap<string, Buffer>,
  options: ImportOptions,
) {
  const { require } = options;
  const puts = documentWriters(objects, bucket, options);
  const parts: Record<string, PartReport> = {};
  const rejected = await restrictFirst(objects, bucket, files.get(bucketFiles.publicAccessBlock), require);
  for (const [part, put] of Object.entries(puts)) {
    // `Object.entries` loses the type of the keys.
    const content = files.get(bucketFiles[part as BucketPart]);
    if (content === undefined) continue;
    if (mayBeEmpty.has(part) && setsNothing(content)) continue;
    if (rejected !== undefined && (part === 'policy' || part === 'grants')) {
      parts[reportNames[part]] = { isSet: false, error: `the public access block could not be set: ${rejected}` };
      continue;
    }
    parts[reportNames[part as BucketPart]] = await reported(async () => {
      await require(rightOf[part as BucketPart], bucket);
      await put(content);
    });
  }
  return { ...parts, ...unread(files) };
}

const readFiles: ReadonlySet<string> = new Set(Object.values(bucketFiles));

/** The files of MinIO that say where a bucket is replicated to. A rule names its target by an ARN, which another server does not have. */
const replicationFiles: ReadonlySet<string> = new Set(['replication.xml', 'bucket-targets.json']);

/** Reports the files that set something and that the import does not read. */
function unread(files: ReadonlyMap<string, Buffer>): Readonly<Record<string, PartReport>> {
  const names = [...files]
    .filter(([name, content]) => !readFiles.has(name) && content.length > 0 && !setsNothing(content))
    .map(([name]) => name);
  return Object.fromEntries(
    names.map((name): [string, PartReport] =>
      replicationFiles.has(name)
        ? ['replication', { isSet: false, error: 'replication is not imported: set it up with "replicate add"' }]
        : [name, { isSet: false, error: 'this server does not know what the file sets, and left it out' }],
    ),
  );
}

/**
 * Sets the flags of a public access block that restrict what is public, before a policy or an ACL could open the bucket. Returns the reason
 * where they cannot be set: the policy and the ACL must not be set without them.
 */
async function restrictFirst(
  objects: ImportingBuckets,
  bucket: string,
  content: Buffer | undefined,
  require: RequireForBucket,
): Promise<string | undefined> {
  if (content === undefined) return undefined;
  const { error } = await reported(async () => {
    const block = parsePublicAccessBlock(content);
    await require(rightOf.publicAccessBlock, bucket);
    const { blockPublicAcls = false, blockPublicPolicy = false } = (await objects.getPublicAccessBlock(bucket)) ?? {};
    await objects.putPublicAccessBlock(bucket, { ...block, blockPublicAcls, blockPublicPolicy });
  });
  return error;
}

/** MinIO also writes files for absent configuration: an empty document, or zeros. */
function setsNothing(content: Buffer): boolean {
  const text = content.toString().trim();
  if (!text.startsWith('{')) return /^(?:<\?[^>]*\?>)?\s*<(\w+)(?:\s[^<>]*)?(?:\/>|>\s*<\/\1\s*>)$/.test(text);
  try {
    return Object.values(JSON.parse(text) as object).every((value) => value === 0 || value === '' || value === null);
  } catch {
    return false;
  }
}

async function reported(put: () => Promise<void>): Promise<PartReport> {
  try {
    await put();
    return { isSet: true };
  } catch (error) {
    if (error instanceof S3Error || error instanceof KeyServiceError) return { isSet: false, error: error.message };
    throw error;
  }
}
