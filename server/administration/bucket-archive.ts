import { writeBucketEncryption, parseBucketEncryption } from '../../protocol/s3/bucket-encryption.ts';
import { isPrivate } from '../../protocol/s3/acl.ts';
import { parseAcl, writeAcl } from '../../protocol/s3/access/acl-document.ts';
import { parseCors, writeCors } from '../../protocol/s3/bucket-cors.ts';
import { parseLifecycle, writeLifecycle } from '../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { parseObjectLockConfiguration, writeObjectLockConfiguration } from '../../protocol/s3/object-lock.ts';
import { parseLogging, writeLogging } from '../../protocol/s3/bucket-logging.ts';
import { parseNotification, writeNotification } from '../../protocol/s3/bucket-notification.ts';
import { parseWebsite, writeWebsite } from '../../protocol/s3/bucket-website.ts';
import { parseVersioning, writeVersioning } from '../../protocol/s3/bucket-versioning.ts';
import { parseOwnershipControls, writeOwnershipControls } from '../../protocol/s3/access/ownership-controls.ts';
import { parsePublicAccessBlock, writePublicAccessBlock } from '../../protocol/s3/access/public-access-block.ts';
import { writeTagging, parseTagging } from '../../protocol/s3/tagging.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import type { BucketRecord } from '../objects/records/bucket-record.ts';
import { writeZip, type ZipEntry } from './zip.ts';
import { parseNewBucketPolicy } from '../../protocol/policy/parse-policy.ts';
import { bucketNameProblem } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { KeySourceError } from '../encryption/key-source.ts';

/**
 * The fields of a bucket record that are no settings of the bucket: among them who pays for requests, which changes nothing. A new setting
 * needs a file here.
 */
type NoSetting = 'created' | 'location' | 'deleting' | 'replication' | 'charges';

/**
 * The files of a bucket in a MinIO archive (`mc admin cluster bucket export`), in a folder with the bucket's name, by the field of the
 * bucket record. MinIO does not know the last five, and leaves them out. Access logs have a record of their own.
 */
const bucketFiles = {
  policy: 'policy.json',
  tags: 'tagging.xml',
  encryption: 'bucket-encryption.xml',
  cors: 'cors.xml',
  versioning: 'versioning.xml',
  // Object lock needs versioning: it is set after it.
  objectLock: 'object-lock.xml',
  lifecycle: 'lifecycle.xml',
  quota: 'quota.json',
  notification: 'notification.xml',
  logging: 'logging.xml',
  website: 'website.xml',
  publicAccessBlock: 'public-access-block.xml',
  ownership: 'ownership-controls.xml',
  // ACLs need an ownership with which they count: they are set after it.
  grants: 'acl.xml',
} as const satisfies Record<Exclude<keyof BucketRecord, NoSetting> | 'logging', string>;

type BucketPart = keyof typeof bucketFiles;

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

export type ExportedBuckets = Pick<
  ObjectLayer,
  | 'listBuckets'
  | 'headBucket'
  | 'getBucketPolicy'
  | 'getBucketTags'
  | 'getBucketEncryption'
  | 'getBucketCors'
  | 'getBucketVersioning'
  | 'getObjectLockConfiguration'
  | 'getBucketLifecycle'
  | 'getBucketQuota'
  | 'getBucketNotification'
  | 'getBucketLogging'
  | 'getBucketWebsite'
  | 'getPublicAccessBlock'
  | 'getOwnership'
  | 'getBucketAcl'
>;

/** Exports the configuration of one bucket or all, as an archive that MinIO can import. Rejects if the bucket does not exist. */
export async function exportBuckets(objects: ExportedBuckets, bucket: string | undefined, now: Date): Promise<Buffer> {
  const names = bucket === undefined ? (await objects.listBuckets()).map(({ name }) => name) : [bucket];
  const entries: ZipEntry[] = [];
  for (const name of names) {
    await objects.headBucket(name);
    const add = (file: string, text: string | undefined) => {
      if (text !== undefined) entries.push({ name: `${name}/${file}`, content: Buffer.from(text) });
    };
    const [tags, encryption] = [await objects.getBucketTags(name), await objects.getBucketEncryption(name)];
    add(bucketFiles.policy, await objects.getBucketPolicy(name));
    add(bucketFiles.tags, tags && writeTagging(tags));
    add(bucketFiles.encryption, encryption && writeBucketEncryption(encryption));
    const cors = await objects.getBucketCors(name);
    add(bucketFiles.cors, cors && writeCors(cors));
    const versioning = await objects.getBucketVersioning(name);
    const lock = await objects.getObjectLockConfiguration(name);
    add(bucketFiles.versioning, versioning && writeVersioning(versioning));
    add(bucketFiles.objectLock, lock && writeObjectLockConfiguration(lock));
    const lifecycle = await objects.getBucketLifecycle(name);
    add(bucketFiles.lifecycle, lifecycle && writeLifecycle(lifecycle));
    const quota = await objects.getBucketQuota(name);
    add(bucketFiles.quota, quota && JSON.stringify({ quota: quota.bytes, size: quota.bytes, quotatype: 'hard' }));
    const notification = await objects.getBucketNotification(name);
    add(bucketFiles.notification, notification.length === 0 ? undefined : writeNotification(notification));
    const logging = await objects.getBucketLogging(name);
    add(bucketFiles.logging, logging && writeLogging(logging));
    const website = await objects.getBucketWebsite(name);
    add(bucketFiles.website, website && writeWebsite(website));
    const block = await objects.getPublicAccessBlock(name);
    add(bucketFiles.publicAccessBlock, block && writePublicAccessBlock(block));
    // New buckets have this ownership.
    const ownership = await objects.getOwnership(name);
    const isDefault = ownership === undefined || ownership === 'BucketOwnerEnforced';
    add(bucketFiles.ownership, isDefault ? undefined : writeOwnershipControls(ownership));
    const acl = await objects.getBucketAcl(name);
    add(bucketFiles.grants, isPrivate(acl) ? undefined : writeAcl(acl));
  }
  return writeZip(entries, now);
}

export type ImportingBuckets = Pick<
  ObjectLayer,
  | 'createBucket'
  | 'headBucket'
  | 'putBucketPolicy'
  | 'putBucketTags'
  | 'putBucketEncryption'
  | 'putBucketCors'
  | 'putBucketVersioning'
  | 'putObjectLockConfiguration'
  | 'putBucketLifecycle'
  | 'putBucketQuota'
  | 'putBucketNotification'
  | 'putBucketLogging'
  | 'putBucketWebsite'
  | 'getPublicAccessBlock'
  | 'putPublicAccessBlock'
  | 'putOwnership'
  | 'putBucketAcl'
>;

/** Rejects unless the caller has the right to the bucket, or to the object with this prefix. */
type RequireForBucket = (action: string, resource: string) => Promise<void>;

interface ImportOptions {
  readonly only: string | undefined;
  readonly region: string;
  /** The targets of events that this server has, as `ID:TYPE`. */
  readonly notificationTargets: readonly string[];
  /** Each part needs the right of its S3 operation. */
  readonly require: RequireForBucket;
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
  const report: Record<string, Record<string, PartReport | string>> = {};
  const buckets = [...filesOf(entries)].filter(([bucket]) => options.only === undefined || bucket === options.only);
  // Access logs may go to a bucket that comes later.
  for (const [bucket] of buckets) {
    const error = await missing(objects, bucket, options);
    if (error !== undefined) report[bucket] = { error };
  }
  for (const [bucket, files] of buckets) report[bucket] ??= await importBucket(objects, bucket, files, options);
  return report;
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
  const problem = bucketNameProblem(bucket);
  if (problem !== undefined) return `it cannot be the name of a bucket: ${problem}`;
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
  { require, region, notificationTargets: targets }: ImportOptions,
) {
  const puts: Readonly<Record<BucketPart, (content: Buffer) => Promise<void>>> = {
    policy: (content) => {
      const text = content.toString();
      parseNewBucketPolicy(text, bucket);
      return objects.putBucketPolicy(bucket, text);
    },
    tags: (content) => objects.putBucketTags(bucket, parseTagging(content)),
    encryption: (content) => objects.putBucketEncryption(bucket, parseBucketEncryption(content)),
    cors: (content) => objects.putBucketCors(bucket, parseCors(content)),
    versioning: (content) => objects.putBucketVersioning(bucket, parseVersioning(content)),
    objectLock: (content) => objects.putObjectLockConfiguration(bucket, parseObjectLockConfiguration(content)),
    lifecycle: (content) => objects.putBucketLifecycle(bucket, parseLifecycle(content)),
    quota: (content) => objects.putBucketQuota(bucket, parseQuota(content)),
    notification: (content) =>
      objects.putBucketNotification(bucket, parseNotification(content, { targets, region }), { test: false }),
    logging: async (content) => {
      const logging = parseLogging(content);
      if (logging !== undefined) await require('s3:PutObject', `${logging.targetBucket}/${logging.targetPrefix}`);
      return objects.putBucketLogging(bucket, logging);
    },
    website: (content) => objects.putBucketWebsite(bucket, parseWebsite(content)),
    ownership: (content) => objects.putOwnership(bucket, parseOwnershipControls(content)),
    grants: (content) => objects.putBucketAcl(bucket, parseAcl(content)),
    // The last: it refuses a public policy or ACL that the bucket had before its block.
    publicAccessBlock: (content) => objects.putPublicAccessBlock(bucket, parsePublicAccessBlock(content)),
  };
  const parts: Record<string, PartReport> = {};
  const refused = await restrictFirst(objects, bucket, files.get(bucketFiles.publicAccessBlock), require);
  for (const [part, put] of Object.entries(puts)) {
    // `Object.entries` loses the type of the keys.
    const content = files.get(bucketFiles[part as BucketPart]);
    if (content === undefined) continue;
    if (mayBeEmpty.has(part) && setsNothing(content)) continue;
    if (refused !== undefined && (part === 'policy' || part === 'grants')) {
      parts[reportNames[part]] = { isSet: false, error: `the public access block could not be set: ${refused}` };
      continue;
    }
    parts[reportNames[part as BucketPart]] = await reported(async () => {
      await require(rightOf[part as BucketPart], bucket);
      await put(content);
    });
  }
  return parts;
}

/** Returns the bytes of a quota of MinIO. Throws `S3Error` for another limit than one of bytes. */
function parseQuota(content: Buffer): number {
  let quota: unknown;
  try {
    quota = JSON.parse(content.toString());
  } catch {
    throw invalidQuota('it is no JSON');
  }
  const fields = new Map(Object.entries(Object(quota) as object));
  for (const name of ['rate', 'requests'])
    if (Number(fields.get(name) ?? 0) !== 0) throw invalidQuota(`${name} is not supported`);
  const type: unknown = fields.get('quotatype') ?? 'hard';
  const bytes = Number(fields.get('size') ?? 0) || Number(fields.get('quota') ?? 0);
  if (type !== 'hard') throw invalidQuota('the type must be hard');
  if (!Number.isSafeInteger(bytes) || bytes <= 0) throw invalidQuota('the quota must be a number of bytes');
  return bytes;
}

function invalidQuota(why: string): S3Error {
  return new S3Error('InvalidArgument', `quota.json: ${why}`);
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
    if (error instanceof S3Error || error instanceof KeySourceError) return { isSet: false, error: error.message };
    throw error;
  }
}
