import {
  parseLegalHold,
  parseRetention,
  writeLegalHold,
  writeRetention,
  type Retention,
} from '../../protocol/s3/object-lock.ts';
import { writeTagging, type Tags } from '../../protocol/s3/tagging.ts';
import { child, childrenOf, readXml, requiredText } from '../../protocol/s3/xml-reader.ts';
import { xmlDocument } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import { bypass, type DeleteOptions, type ObjectRef } from './objects.ts';
import { xmlBody } from './xml-body.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** Returns the tags of an object, or with an empty key those of the bucket. */
export async function getTags(
  client: S3Client,
  { bucket, key, versionId }: ObjectRef,
  headers: Readonly<Record<string, string>> = {},
): Promise<Tags> {
  try {
    const { text } = await client.text({ method: 'GET', bucket, key, query: { tagging: '', versionId }, headers });
    const set = child(readXml(text, { maxBytes: 262_144, root: 'Tagging' }), 'TagSet');
    const tags = set === undefined ? [] : childrenOf(set, 'Tag');
    return Object.fromEntries(tags.map((tag) => [requiredText(tag, 'Key'), requiredText(tag, 'Value')]));
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'NoSuchTagSet') return {};
    throw error;
  }
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectTagging.html */
export async function putTags(client: S3Client, { bucket, key, versionId }: ObjectRef, tags: Tags): Promise<void> {
  await client.text({ method: 'PUT', bucket, key, query: { tagging: '', versionId }, ...xmlBody(writeTagging(tags)) });
}

export async function deleteTags(client: S3Client, { bucket, key, versionId }: ObjectRef): Promise<void> {
  await client.text({ method: 'DELETE', bucket, key, query: { tagging: '', versionId } });
}

/** Undefined for an object without retention. */
export async function getRetention(client: S3Client, ref: ObjectRef): Promise<Retention | undefined> {
  const text = await lockOf(client, ref, 'retention');
  return text === undefined ? undefined : parseRetention(text);
}

/** Undefined removes the retention. */
export async function putRetention(
  client: S3Client,
  { bucket, key, versionId }: ObjectRef,
  retention: Retention | undefined,
  options: DeleteOptions,
): Promise<void> {
  const { body, headers } = xmlBody(retention === undefined ? xmlDocument('Retention', []) : writeRetention(retention));
  const query = { retention: '', versionId };
  await client.text({ method: 'PUT', bucket, key, query, body, headers: { ...headers, ...bypass(options) } });
}

/** Undefined for an object that never had a legal hold. */
export async function getLegalHold(client: S3Client, ref: ObjectRef): Promise<boolean | undefined> {
  const text = await lockOf(client, ref, 'legal-hold');
  return text === undefined ? undefined : parseLegalHold(text);
}

export async function putLegalHold(
  client: S3Client,
  { bucket, key, versionId }: ObjectRef,
  on: boolean,
): Promise<void> {
  const query = { 'legal-hold': '', versionId };
  await client.text({ method: 'PUT', bucket, key, query, ...xmlBody(writeLegalHold(on)) });
}

async function lockOf(client: S3Client, ref: ObjectRef, name: string): Promise<string | undefined> {
  const { bucket, key, versionId } = ref;
  try {
    return (await client.text({ method: 'GET', bucket, key, query: { [name]: '', versionId } })).text;
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'NoSuchObjectLockConfiguration') return undefined;
    throw error;
  }
}
