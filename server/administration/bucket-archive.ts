import { writeBucketEncryption, parseBucketEncryption } from '../../protocol/s3/bucket-encryption.ts';
import { writeTagging, parseTagging } from '../../protocol/s3/tagging.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import { writeZip, type ZipEntry } from './zip.ts';
import { parseNewBucketPolicy } from '../../protocol/policy/parse-policy.ts';
import { bucketNameProblem } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { KeySourceError } from '../encryption/key-source.ts';

/** The files of a bucket in an archive of MinIO (`mc admin cluster bucket export`), below a folder of the bucket's name. */
const bucketFiles = {
  policy: 'policy.json',
  tagging: 'tagging.xml',
  encryption: 'bucket-encryption.xml',
} as const;

type BucketPart = keyof typeof bucketFiles;

/** What MinIO keeps of a bucket and Coffer does not: an import says that it cannot be taken. By the name in the report. */
const foreignFiles: Readonly<Record<string, string>> = {
  'object-lock.xml': 'olock',
  'versioning.xml': 'versioning',
  'lifecycle.xml': 'lifecycle',
  'notification.xml': 'notification',
  'quota.json': 'quota',
  'cors.xml': 'cors',
};

/** What a report calls a part. */
const reportNames: Readonly<Record<BucketPart, string>> = {
  policy: 'policy',
  tagging: 'tagging',
  encryption: 'sse',
};

/** Bytes unpacked; a bucket has some KiB. */
export const bucketArchiveLimits = { entries: 20_000, size: 64 * 1024 * 1024 } as const;

export type ExportedBuckets = Pick<
  ObjectLayer,
  'listBuckets' | 'headBucket' | 'getBucketPolicy' | 'getBucketTags' | 'getBucketEncryption'
>;

/** What is set for a bucket, or for all of them, as an archive that MinIO imports too. Rejects where there is no such bucket. */
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
    add(bucketFiles.tagging, tags && writeTagging(tags));
    add(bucketFiles.encryption, encryption && writeBucketEncryption(encryption));
  }
  return writeZip(entries, now);
}

export type ImportingBuckets = Pick<
  ObjectLayer,
  'createBucket' | 'headBucket' | 'putBucketPolicy' | 'putBucketTags' | 'putBucketEncryption'
>;

type RequireForBucket = (action: string, bucket: string) => Promise<void>;

interface PartReport {
  readonly isSet: boolean;
  readonly error?: string;
}

/** Of each bucket what became of each part, as clients read it; `error` where the bucket itself could not be had. */
type BucketImportReport = Readonly<Record<string, Readonly<Record<string, PartReport | string>>>>;

/** Makes the buckets that are not there, and sets for each what the archive has. One that fails holds up no other. */
export async function importBuckets(
  objects: ImportingBuckets,
  entries: readonly ZipEntry[],
  options: {
    readonly only: string | undefined;
    readonly region: string;
    /** Rejects where the caller may not do this to the bucket: each part takes the right of the S3 operation that sets it. */
    readonly require: RequireForBucket;
  },
): Promise<BucketImportReport> {
  const report: Record<string, Record<string, PartReport | string>> = {};
  for (const [bucket, files] of filesOf(entries)) {
    if (options.only !== undefined && bucket !== options.only) continue;
    const problem = await missing(objects, bucket, options);
    report[bucket] =
      problem === undefined ? await importBucket(objects, bucket, files, options.require) : { error: problem };
  }
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

/** Why there is no such bucket and none can be made; undefined where it is there. */
async function missing(
  objects: ImportingBuckets,
  bucket: string,
  { region: location, require }: { readonly region: string; readonly require: RequireForBucket },
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

/** What the S3 operation that sets the part takes. */
const rightOf: Readonly<Record<BucketPart, string>> = {
  policy: 's3:PutBucketPolicy',
  tagging: 's3:PutBucketTagging',
  encryption: 's3:PutEncryptionConfiguration',
};

async function importBucket(
  objects: ImportingBuckets,
  bucket: string,
  files: ReadonlyMap<string, Buffer>,
  require: RequireForBucket,
) {
  const puts: Readonly<Record<BucketPart, (content: Buffer) => Promise<void>>> = {
    policy: (content) => {
      const text = content.toString();
      parseNewBucketPolicy(text, bucket);
      return objects.putBucketPolicy(bucket, text);
    },
    tagging: (content) => objects.putBucketTags(bucket, parseTagging(content)),
    encryption: (content) => objects.putBucketEncryption(bucket, parseBucketEncryption(content)),
  };
  const parts: Record<string, PartReport> = {};
  for (const [part, put] of Object.entries(puts)) {
    // `Object.entries` forgets that these are the parts.
    const content = files.get(bucketFiles[part as BucketPart]);
    if (content === undefined) continue;
    parts[reportNames[part as BucketPart]] = await reported(async () => {
      await require(rightOf[part as BucketPart], bucket);
      await put(content);
    });
  }
  for (const [file, name] of Object.entries(foreignFiles)) {
    const content = files.get(file);
    if (content !== undefined && !setsNothing(content))
      parts[name] = { isSet: false, error: `Coffer has no ${name} of buckets; ${file} was left out` };
  }
  return parts;
}

/** MinIO's archives have files for what a bucket does not have, too: an empty document, or zeros. */
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
