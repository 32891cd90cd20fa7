import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import type { JobContext } from './job.ts';

/** Removes what a job made, so that the lists of the next one are as short, and its names are free. */
export async function discard(context: Pick<JobContext, 's3' | 'id' | 'admin'>): Promise<void> {
  const { id, admin } = context;
  await discardBucket(context);
  if (((await admin('GET', 'groups')) as readonly string[]).includes(id)) {
    const removal = { group: id, members: [], isRemove: true, groupStatus: 'enabled' };
    await admin('PUT', 'update-group-members', Buffer.from(JSON.stringify(removal)));
  }
  if (id in ((await admin('GET', 'list-users')) as object)) await admin('DELETE', `remove-user?accessKey=${id}`);
  if (id in ((await admin('GET', 'list-canned-policies')) as object))
    await admin('DELETE', `remove-canned-policy?name=${id}`);
}

async function discardBucket({ s3, id }: Pick<JobContext, 's3' | 'id'>): Promise<void> {
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
  if (!Buckets.some(({ Name }) => Name === id)) return;
  const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: id }));
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers])
    await s3.send(new DeleteObjectCommand({ Bucket: id, Key, VersionId }));
  await s3.send(new DeleteBucketCommand({ Bucket: id }));
}
