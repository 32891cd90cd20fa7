import {
  CreateBucketCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type BucketVersioningStatus,
} from '@aws-sdk/client-s3';
import type { JobContext } from './job.ts';

/** These functions make what a job needs, by clients. Everything has the name of the job. */

export async function bucket({ s3, id }: JobContext): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: id }));
}

/** A bucket with objects, whose bodies are their keys. */
export const objects =
  (...keys: readonly string[]) =>
  async (context: JobContext): Promise<void> => {
    await bucket(context);
    const { s3, id } = context;
    for (const Key of keys)
      await s3.send(new PutObjectCommand({ Bucket: id, Key, Body: Key, ContentType: 'text/plain' }));
  };

/** A bucket that keeps versions, with those of the object `a.txt`. */
export const versions =
  (...bodies: readonly string[]) =>
  async (context: JobContext): Promise<void> => {
    await bucket(context);
    const { s3, id } = context;
    const Status: BucketVersioningStatus = 'Enabled';
    await s3.send(new PutBucketVersioningCommand({ Bucket: id, VersioningConfiguration: { Status } }));
    for (const Body of bodies) await s3.send(new PutObjectCommand({ Bucket: id, Key: 'a.txt', Body }));
  };

export const userSecret = 'a-secret-of-the-user';

export async function user({ admin, id }: JobContext): Promise<void> {
  await admin('PUT', `add-user?accessKey=${id}`, { secretKey: userSecret, status: 'enabled' });
}

export async function group({ admin, id }: JobContext): Promise<void> {
  const change = { group: id, members: [], isRemove: false, groupStatus: 'enabled' };
  await admin('PUT', 'update-group-members', Buffer.from(JSON.stringify(change)));
}

export const policyDocument = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::*' }],
};

export async function policy({ admin, id }: JobContext): Promise<void> {
  await admin('PUT', `add-canned-policy?name=${id}`, Buffer.from(JSON.stringify(policyDocument)));
}

export async function userWithPolicy(context: JobContext): Promise<void> {
  const { admin, id } = context;
  await policy(context);
  await user(context);
  await admin('PUT', `set-user-or-group-policy?policyName=${id}&userOrGroup=${id}&isGroup=false`);
}
