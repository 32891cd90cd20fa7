import {
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { contentOf, DELETE_MARKER, type ExpectedObjects, isVersionName, placeOf, versionName } from './expected.ts';

/** Reads the versions of a bucket, their tags and their locks, if it has any: by their names. */
export async function addVersions(s3: S3Client, Bucket: string, shown: Map<string, string>): Promise<void> {
  if ((await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status === undefined) return;
  let page: Partial<ListObjectVersionsCommandOutput> = {};
  do {
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
    page = await s3.send(new ListObjectVersionsCommand({ Bucket, MaxKeys: 7, KeyMarker, VersionIdMarker }));
    for (const { Key = '', VersionId = '' } of page.DeleteMarkers ?? [])
      shown.set(versionName(`${Bucket}/${Key}`, VersionId), DELETE_MARKER);
    const versions = page.Versions ?? [];
    await Promise.all(
      versions.map(({ Key = '', VersionId = '' }) => addVersion(s3, `${Bucket}/${Key}`, VersionId, shown)),
    );
  } while (page.IsTruncated === true);
}

async function addVersion(s3: S3Client, name: string, VersionId: string, shown: Map<string, string>): Promise<void> {
  const place = { ...placeOf(name), VersionId };
  try {
    const object = await s3.send(new GetObjectCommand(place));
    shown.set(versionName(name, VersionId), contentOf((await object.Body?.transformToByteArray()) ?? new Uint8Array()));
    const { ObjectLockLegalHoldStatus: held, ObjectLockRetainUntilDate: until } = object;
    if (held === 'ON') shown.set(versionName(name, VersionId, 'legal-hold'), held);
    if (until !== undefined) shown.set(versionName(name, VersionId, 'retention'), until.toISOString());
    const { TagSet } = await s3.send(new GetObjectTaggingCommand(place));
    const [tag] = TagSet ?? [];
    if (tag !== undefined) shown.set(versionName(name, VersionId, 'tagging'), tag.Value ?? '');
  } catch (error) {
    shown.set(versionName(name, VersionId), `unreadable: ${String(error)}`);
  }
}

/** Returns what contradicts what clients were told of versions. What is shown is what the server goes on from. */
export function complaintsAboutVersions(shown: ReadonlyMap<string, string>, expected: ExpectedObjects): string[] {
  const complaints: string[] = [];
  const names = new Set(expected.names);
  for (const [name, content] of shown) {
    if (names.has(name)) continue;
    const base = name.slice(0, name.indexOf('?versionId='));
    if (!expected.mayHaveCreated(base, content)) complaints.push(`${name} is ${content}, and no client wrote it`);
    expected.settle(name, content);
  }
  for (const name of names) {
    if (!isVersionName(name)) continue;
    const complaint = expected.complaint(name, shown.get(name));
    if (complaint !== undefined) complaints.push(complaint);
    expected.settle(name, shown.get(name));
  }
  return complaints;
}
