import { GetObjectCommand, ListObjectsV2Command, NoSuchKey, type S3Client } from '@aws-sdk/client-s3';
import type { ExpectedObjects } from './expected-objects.ts';
import { contentOf } from './witness.ts';
import { BUCKET } from './writers.ts';

/** Reads every object and the listing; returns what contradicts what clients were told. */
export async function complaintsAbout(s3: S3Client, expected: ExpectedObjects): Promise<string[]> {
  const complaints: string[] = [];
  const listed = new Set(await listing(s3));
  for (const key of listed) if (!expected.keys.includes(key)) complaints.push(`${key} is listed, and nobody wrote it`);
  for (const key of expected.keys) {
    let shown: string | undefined;
    try {
      shown = await contentShown(s3, key);
    } catch (error) {
      complaints.push(`${key} cannot be read: ${String(error)}`);
      continue;
    }
    const complaint = expected.complaint(key, shown);
    if (complaint !== undefined) complaints.push(complaint);
    if (listed.has(key) !== (shown !== undefined)) {
      complaints.push(
        `${key} is ${listed.has(key) ? 'listed' : 'not listed'}, and reading it gives ${shown ?? 'nothing'}`,
      );
    }
    expected.settle(key, shown);
  }
  return complaints;
}

export async function contentShown(s3: S3Client, key: string): Promise<string | undefined> {
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
    return contentOf((await Body?.transformToByteArray()) ?? new Uint8Array());
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

async function listing(s3: S3Client): Promise<string[]> {
  const keys: string[] = [];
  for (let token: string | undefined; ;) {
    const page = await s3.send(
      new ListObjectsV2Command({
        Bucket: BUCKET,
        MaxKeys: 7,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    for (const { Key } of page.Contents ?? []) keys.push(Key ?? '');
    token = page.NextContinuationToken;
    if (token === undefined) return keys;
  }
}
