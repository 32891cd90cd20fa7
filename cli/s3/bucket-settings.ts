import {
  parseObjectLockConfiguration,
  writeObjectLockConfiguration,
  type ObjectLockRule,
} from '../../protocol/s3/object-lock.ts';
import { writeVersioning, type VersioningConfiguration } from '../../protocol/s3/bucket-versioning.ts';
import { newElement, readEditable, withAll, without, withText, writeEdited } from '../../protocol/s3/xml-edit.ts';
import { childrenOf, readXml, textOf } from '../../protocol/s3/xml-reader.ts';
import type { S3Client } from './client.ts';
import type { BucketSetting } from './edit-setting.ts';
import { xmlBody } from './xml-body.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** The versioning of a bucket as the server answers it. `status` is empty for a bucket that never had versions. */
export interface BucketVersioning {
  readonly status: string;
  readonly mfaDelete: string;
  readonly excludedPrefixes: readonly string[];
  readonly excludeFolders: boolean;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html */
export async function getVersioning(client: S3Client, bucket: string): Promise<BucketVersioning> {
  const { text } = await client.text({ method: 'GET', bucket, query: { versioning: '' } });
  const root = readXml(text, { maxBytes: 65_536, root: 'VersioningConfiguration' });
  return {
    status: textOf(root, 'Status') ?? '',
    mfaDelete: textOf(root, 'MfaDelete') ?? textOf(root, 'MFADelete') ?? '',
    excludedPrefixes: childrenOf(root, 'ExcludedPrefixes').map((node) => textOf(node, 'Prefix') ?? ''),
    excludeFolders: textOf(root, 'ExcludeFolders') === 'true',
  };
}

export const versioningSetting: BucketSetting = { name: 'versioning' };

/** A change of the versioning. An undefined field stays as it is. */
export interface VersioningChange {
  readonly status: 'Enabled' | 'Suspended';
  readonly excludedPrefixes?: readonly string[] | undefined;
  readonly excludeFolders?: boolean | undefined;
}

/** Returns the document with another status. A suspended versioning excludes no prefixes. */
export function withVersioning(document: string, change: VersioningChange): string {
  const { status, excludeFolders } = change;
  const excludedPrefixes = status === 'Suspended' ? [] : change.excludedPrefixes;
  const root = withText(readEditable(document), ['Status'], status);
  const folders = excludeFolders === undefined ? root : withText(root, ['ExcludeFolders'], String(excludeFolders));
  if (excludedPrefixes === undefined) return writeEdited(folders);
  const elements = excludedPrefixes.map((prefix) => newElement('ExcludedPrefixes', [newElement('Prefix', prefix)]));
  return writeEdited(withAll(folders, 'ExcludedPrefixes', elements));
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html */
export async function putVersioning(
  client: S3Client,
  bucket: string,
  versioning: VersioningConfiguration,
): Promise<void> {
  await client.text({ method: 'PUT', bucket, query: { versioning: '' }, ...xmlBody(writeVersioning(versioning)) });
}

/** Undefined for a bucket without object lock. */
export async function getObjectLock(client: S3Client, bucket: string): Promise<ObjectLockRule | undefined> {
  const text = await settingOf(client, bucket, 'object-lock', 'ObjectLockConfigurationNotFoundError');
  return text === undefined ? undefined : parseObjectLockConfiguration(text);
}

export const objectLockSetting: BucketSetting = { name: 'object-lock', absent: 'ObjectLockConfigurationNotFoundError' };

const defaultRetention = ['Rule', 'DefaultRetention'];

/** Returns the document with another default retention; all else stays as it came. */
export function withDefaultRetention(
  document: string | undefined,
  { mode, days, years }: NonNullable<ObjectLockRule['defaultRetention']>,
): string {
  const root = readEditable(document ?? writeObjectLockConfiguration({}));
  const periods = Object.entries({ Days: days, Years: years });
  const edited = periods.reduce(
    (node, [name, period]) => {
      const path = [...defaultRetention, name];
      return period === undefined ? without(node, path) : withText(node, path, String(period));
    },
    withText(root, [...defaultRetention, 'Mode'], mode),
  );
  return writeEdited(edited);
}

/** Returns the document without a default retention; all else stays as it came. */
export function withoutDefaultRetention(document: string): string {
  return writeEdited(without(readEditable(document), defaultRetention));
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLockConfiguration.html */
export async function putObjectLock(client: S3Client, bucket: string, rule: ObjectLockRule): Promise<void> {
  const document = writeObjectLockConfiguration(rule);
  await client.text({ method: 'PUT', bucket, query: { 'object-lock': '' }, ...xmlBody(document) });
}

/** The document of the bucket policy; undefined without one. */
export async function getBucketPolicy(client: S3Client, bucket: string): Promise<string | undefined> {
  return settingOf(client, bucket, 'policy', 'NoSuchBucketPolicy');
}

export const policySetting: BucketSetting = { name: 'policy', absent: 'NoSuchBucketPolicy' };

export async function putBucketPolicy(client: S3Client, bucket: string, document: string): Promise<void> {
  const body = Buffer.from(document);
  await client.text({ method: 'PUT', bucket, query: { policy: '' }, body });
}

/** The XML document of the CORS rules; undefined without one. */
export async function getBucketCors(client: S3Client, bucket: string): Promise<string | undefined> {
  return settingOf(client, bucket, 'cors', 'NoSuchCORSConfiguration');
}

export async function putBucketCors(client: S3Client, bucket: string, document: string): Promise<void> {
  await client.text({ method: 'PUT', bucket, query: { cors: '' }, ...xmlBody(document) });
}

export async function deleteBucketCors(client: S3Client, bucket: string): Promise<void> {
  await client.text({ method: 'DELETE', bucket, query: { cors: '' } });
}

/** Reads a subresource of a bucket. The code of the error says that it is not set. */
async function settingOf(client: S3Client, bucket: string, name: string, absent: string): Promise<string | undefined> {
  try {
    return (await client.text({ method: 'GET', bucket, query: { [name]: '' } })).text;
  } catch (error) {
    if (error instanceof ResponseError && error.code === absent) return undefined;
    throw error;
  }
}
