import {
  GetObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  NoSuchBucket,
  NoSuchKey,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { addVersions, complaintsAboutVersions } from './compare-versions.ts';
import {
  type ExpectedObjects,
  type ExpectedUploads,
  type ShownUpload,
  BUCKET_THERE,
  type Content,
  contentOf,
  halfMoves,
  isVersionName,
  placeOf,
} from './expected.ts';

interface Listed {
  readonly etag: string;
  readonly size: number;
}

/** Reads every bucket, object, upload and the listings; returns what contradicts what clients were told, or one another. */
export async function complaintsAbout(
  s3: S3Client,
  expected: ExpectedObjects,
  uploads: ExpectedUploads,
): Promise<string[]> {
  const complaints: string[] = [];
  const { Buckets } = await s3.send(new ListBucketsCommand({}));
  const buckets = (Buckets ?? []).map(({ Name }) => Name ?? '');
  const listed = new Map<string, Listed>();
  const shownUploads: ShownUpload[] = [];
  for (const bucket of buckets) {
    for (const [name, one] of await listing(s3, bucket)) listed.set(name, one);
    shownUploads.push(...(await uploadsOf(s3, bucket)));
  }
  const versions = new Map<string, string>();
  for (const bucket of buckets) await addVersions(s3, bucket, versions);
  complaints.push(...complaintsAboutVersions(versions, expected));
  const names = expected.names;
  const { moves } = expected;
  const contents = new Map<string, Content>();
  for (const name of [...listed.keys(), ...buckets.map((bucket) => `${bucket}/`)]) {
    if (!names.includes(name)) complaints.push(`${name} is listed, and nobody wrote it`);
  }
  for (const name of names) {
    if (isVersionName(name)) continue;
    if (name.endsWith('/')) {
      const shown = buckets.includes(name.slice(0, -1)) ? BUCKET_THERE : undefined;
      complaints.push(...toList(expected.complaint(name, shown)));
      expected.settle(name, shown);
      continue;
    }
    complaints.push(...(await complaintsAboutObject(s3, name, listed.get(name), expected, contents)));
  }
  complaints.push(...halfMoves(moves, (name) => contents.get(name)));
  complaints.push(...uploads.complaints(shownUploads));
  return complaints;
}

async function complaintsAboutObject(
  s3: S3Client,
  name: string,
  listed: Listed | undefined,
  expected: ExpectedObjects,
  contents: Map<string, Content>,
): Promise<string[]> {
  let shown: Shown | undefined;
  try {
    shown = await objectShown(s3, name);
  } catch (error) {
    return [`${name} cannot be read: ${String(error)}`];
  }
  contents.set(name, shown?.content);
  const complaints = [...toList(expected.complaint(name, shown?.content)), ...(shown?.complaints ?? [])];
  if (listed?.etag !== shown?.etag || listed?.size !== shown?.size) {
    complaints.push(`${name} is listed as ${JSON.stringify(listed)}, and reading it gives ${JSON.stringify(shown)}`);
  }
  expected.settle(name, shown?.content);
  return complaints;
}

interface Shown extends Listed {
  readonly content: Content;
  readonly complaints: readonly string[];
}

async function objectShown(s3: S3Client, name: string): Promise<Shown | undefined> {
  try {
    const { Body, ETag = '', ServerSideEncryption } = await s3.send(new GetObjectCommand(placeOf(name)));
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
    const md5 = `"${createHash('md5').update(bytes).digest('hex')}"`;
    // Of parts, and of what is encrypted, the ETag is no MD5 of the bytes.
    const mustBeMd5 = !ETag.includes('-') && ServerSideEncryption === undefined;
    const complaints = mustBeMd5 && ETag !== md5 ? [`${name} has ETag ${ETag}, and its bytes have ${md5}`] : [];
    return { etag: ETag, size: bytes.length, content: contentOf(bytes), complaints };
  } catch (error) {
    if (error instanceof NoSuchKey || error instanceof NoSuchBucket) return undefined;
    throw error;
  }
}

export async function contentShown(s3: S3Client, name: string): Promise<Content> {
  return (await objectShown(s3, name))?.content;
}

async function listing(s3: S3Client, bucket: string): Promise<Map<string, Listed>> {
  const listed = new Map<string, Listed>();
  for (let token: string | undefined; ;) {
    const page = await s3.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        MaxKeys: 7,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    for (const { Key = '', ETag = '', Size = -1 } of page.Contents ?? [])
      listed.set(`${bucket}/${Key}`, { etag: ETag, size: Size });
    token = page.NextContinuationToken;
    if (token === undefined) return listed;
  }
}

async function uploadsOf(s3: S3Client, Bucket: string): Promise<ShownUpload[]> {
  const { Uploads } = await s3.send(new ListMultipartUploadsCommand({ Bucket }));
  return Promise.all(
    (Uploads ?? []).map(async ({ Key = '', UploadId = '' }) => {
      const { Parts } = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId }));
      const parts = new Map((Parts ?? []).map(({ PartNumber = 0, ETag = '' }) => [PartNumber, ETag]));
      return { id: UploadId, name: `${Bucket}/${Key}`, parts };
    }),
  );
}

function toList(complaint: string | undefined): string[] {
  return complaint === undefined ? [] : [complaint];
}
