import { writeBucketEncryption, parseBucketEncryption } from '../../protocol/s3/bucket-encryption.ts';
import { isPrivate } from '../../protocol/s3/acl.ts';
import { parseAcl, writeAcl } from '../../protocol/s3/access/acl-document.ts';
import { parseCors, writeCors } from '../../protocol/s3/bucket-cors.ts';
import { parseLifecycleCopy, writeLifecycleCopy } from '../../protocol/s3/lifecycle/transition-minimum.ts';
import { parseObjectLockConfiguration, writeObjectLockConfiguration } from '../../protocol/s3/object-lock.ts';
import { parseLogging, writeLogging } from '../../protocol/s3/bucket-logging.ts';
import { parseNotification, writeNotification } from '../../protocol/s3/bucket-notification.ts';
import { parseWebsite, writeWebsite } from '../../protocol/s3/bucket-website.ts';
import { parseVersioning, writeVersioning } from '../../protocol/s3/bucket-versioning.ts';
import { parseOwnershipControls, writeOwnershipControls } from '../../protocol/s3/access/ownership-controls.ts';
import { parsePublicAccessBlock, writePublicAccessBlock } from '../../protocol/s3/access/public-access-block.ts';
import { writeTagging, parseTagging } from '../../protocol/s3/tagging.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { BucketRecord } from '../objects/records/bucket-record.ts';
import type { Right } from '../auth/authorize.ts';
import { logRights } from '../auth/deferred-rights.ts';
import { parseNewBucketPolicy } from '../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';

/**
 * The fields of a bucket record that are not settings of the bucket: among them who pays for requests, which changes nothing. A new setting
 * needs a file here.
 */
type NoSetting = 'created' | 'location' | 'changed' | 'deleting' | 'replication' | 'charges';

/**
 * The files of a bucket in a MinIO archive (`mc admin cluster bucket export`), in a folder with the bucket's name, by the field of the
 * bucket record. MinIO does not know the last five, and leaves them out. Access logs have a record of their own.
 */
export const bucketFiles = {
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

export type BucketPart = keyof typeof bucketFiles;

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

/** Returns the settings of a bucket that are set, each as a document. Throws `NoSuchBucket`. */
export async function bucketDocuments(
  objects: Omit<ExportedBuckets, 'listBuckets'>,
  name: string,
): Promise<ReadonlyMap<BucketPart, string>> {
  const documents = new Map<BucketPart, string>();
  const add = (part: BucketPart, text: string | undefined) => {
    if (text !== undefined) documents.set(part, text);
  };
  await objects.headBucket(name);
  const [tags, encryption] = [await objects.getBucketTags(name), await objects.getBucketEncryption(name)];
  add('policy', await objects.getBucketPolicy(name));
  add('tags', tags && writeTagging(tags));
  add('encryption', encryption && writeBucketEncryption(encryption));
  const cors = await objects.getBucketCors(name);
  add('cors', cors && writeCors(cors));
  const versioning = await objects.getBucketVersioning(name);
  const lock = await objects.getObjectLockConfiguration(name);
  add('versioning', versioning && writeVersioning(versioning));
  add('objectLock', lock && writeObjectLockConfiguration(lock));
  const lifecycle = await objects.getBucketLifecycle(name);
  add('lifecycle', lifecycle && writeLifecycleCopy(lifecycle));
  const quota = await objects.getBucketQuota(name);
  add('quota', quota && JSON.stringify({ quota: quota.bytes, size: quota.bytes, quotatype: 'hard' }));
  const notification = await objects.getBucketNotification(name);
  add('notification', notification.length === 0 ? undefined : writeNotification(notification));
  const logging = await objects.getBucketLogging(name);
  add('logging', logging && writeLogging(logging));
  const website = await objects.getBucketWebsite(name);
  add('website', website && writeWebsite(website));
  const block = await objects.getPublicAccessBlock(name);
  add('publicAccessBlock', block && writePublicAccessBlock(block));
  // New buckets have this ownership.
  const ownership = await objects.getOwnership(name);
  const isDefault = ownership === undefined || ownership === 'BucketOwnerEnforced';
  add('ownership', isDefault ? undefined : writeOwnershipControls(ownership));
  const acl = await objects.getBucketAcl(name);
  add('grants', isPrivate(acl) ? undefined : writeAcl(acl));
  return documents;
}

export type ImportingBuckets = Pick<
  ObjectLayer,
  | 'createBucket'
  | 'headBucket'
  | 'getSettingTag'
  | 'expecting'
  | 'getBucketEncryption'
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

interface WriterOptions {
  /** The region and the targets of events, which a notification names. */
  readonly region: string;
  readonly notificationTargets: readonly string[];
  /** Rejects unless the caller has the rights to what the server does later. */
  readonly requireAll: (rights: readonly Right[]) => Promise<void>;
}

/** Returns for each part the function that sets it from its document, in the order in which they can be set. */
export function documentWriters(
  objects: ImportingBuckets,
  bucket: string,
  { requireAll, region, notificationTargets: targets }: WriterOptions,
): Readonly<Record<BucketPart, (content: Buffer) => Promise<void>>> {
  return {
    policy: (content) => {
      const text = content.toString();
      parseNewBucketPolicy(text, bucket);
      return objects.putBucketPolicy(bucket, text);
    },
    tags: (content) => objects.putBucketTags(bucket, parseTagging(content)),
    encryption: async (content) => {
      const wanted = parseBucketEncryption(content);
      const seen = await objects.getSettingTag(bucket, 'encryption');
      const { blocked, bucketKey } = (await objects.getBucketEncryption(bucket)) ?? {};
      // MinIO has neither: its archive does not say that there is none.
      const kept = { ...(blocked && { blocked }), ...(bucketKey !== undefined && { bucketKey }) };
      const expecting = objects.expecting({ setting: 'encryption', ifMatch: [seen] });
      return expecting.putBucketEncryption(bucket, { ...kept, ...wanted });
    },
    cors: (content) => objects.putBucketCors(bucket, parseCors(content)),
    versioning: (content) => objects.putBucketVersioning(bucket, parseVersioning(content)),
    objectLock: (content) => objects.putObjectLockConfiguration(bucket, parseObjectLockConfiguration(content)),
    lifecycle: (content) => objects.putBucketLifecycle(bucket, parseLifecycleCopy(content)),
    quota: (content) => objects.putBucketQuota(bucket, parseQuota(content)),
    notification: (content) =>
      objects.putBucketNotification(bucket, parseNotification(content, { targets, region }), { test: false }),
    logging: async (content) => {
      const logging = parseLogging(content);
      if (logging !== undefined) await requireAll(logRights(logging));
      return objects.putBucketLogging(bucket, logging);
    },
    website: (content) => objects.putBucketWebsite(bucket, parseWebsite(content)),
    ownership: (content) => objects.putOwnership(bucket, parseOwnershipControls(content)),
    grants: (content) => objects.putBucketAcl(bucket, parseAcl(content)),
    // The last: it refuses a public policy or ACL that the bucket had before its block.
    publicAccessBlock: (content) => objects.putPublicAccessBlock(bucket, parsePublicAccessBlock(content)),
  };
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
