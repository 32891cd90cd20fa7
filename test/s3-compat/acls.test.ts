import {
  CreateBucketCommand,
  DeletePublicAccessBlockCommand,
  GetBucketAclCommand,
  GetBucketOwnershipControlsCommand,
  GetObjectAclCommand,
  GetPublicAccessBlockCommand,
  PutBucketAclCommand,
  PutBucketOwnershipControlsCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  RenameObjectCommand,
  GetObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'acls';
const Key = 'picture';
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket, ObjectOwnership: 'ObjectWriter' }));
});

const status = async (key = Key) => (await fetch(`${server.s3}/${Bucket}/${key}`)).status;
const put = (key: string, ACL?: 'public-read') =>
  s3.send(new PutObjectCommand({ Bucket, Key: key, Body: 'seen', ...(ACL && { ACL }) }));

describe('the AWS SDK for JavaScript', () => {
  it('sets the ACL of an object by name and by grants, and reads it', async () => {
    await put(Key);
    expect(await status()).toBe(403);
    await s3.send(new PutObjectAclCommand({ Bucket, Key, ACL: 'public-read' }));
    expect(await status()).toBe(200);
    const { Owner, Grants } = await s3.send(new GetObjectAclCommand({ Bucket, Key }));
    expect(Grants?.map(({ Grantee, Permission }) => [Grantee?.Type, Grantee?.URI ?? Grantee?.ID, Permission])).toEqual([
      ['CanonicalUser', Owner?.ID, 'FULL_CONTROL'],
      ['Group', 'http://acs.amazonaws.com/groups/global/AllUsers', 'READ'],
    ]);
    const own = Grants?.slice(0, 1);
    await s3.send(new PutObjectAclCommand({ Bucket, Key, AccessControlPolicy: { Owner, Grants: own } }));
    expect(await status()).toBe(403);
  });

  it('sets the ACL of a bucket, and of a new object', async () => {
    const GrantRead = 'uri="http://acs.amazonaws.com/groups/global/AllUsers"';
    await s3.send(new PutBucketAclCommand({ Bucket, GrantRead }));
    expect((await fetch(`${server.s3}/${Bucket}`)).status).toBe(200);
    expect((await s3.send(new GetBucketAclCommand({ Bucket }))).Grants?.[0]?.Permission).toBe('READ');
    await s3.send(new PutBucketAclCommand({ Bucket, ACL: 'private' }));
    expect((await fetch(`${server.s3}/${Bucket}`)).status).toBe(403);
    await put('open', 'public-read');
    expect(await status('open')).toBe(200);
  });

  it('sets a public access block', async () => {
    const none = { code: 'NoSuchPublicAccessBlockConfiguration', status: 404 };
    expect(await refusal(s3.send(new GetPublicAccessBlockCommand({ Bucket })))).toEqual(none);
    const block = {
      BlockPublicAcls: true,
      IgnorePublicAcls: true,
      BlockPublicPolicy: false,
      RestrictPublicBuckets: true,
    };
    await s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration: block }));
    const { PublicAccessBlockConfiguration } = await s3.send(new GetPublicAccessBlockCommand({ Bucket }));
    expect(PublicAccessBlockConfiguration).toEqual(block);
    expect(await status('open')).toBe(403);
    expect(await refusal(put('blocked', 'public-read'))).toEqual({ code: 'AccessDenied', status: 403 });
    await s3.send(new DeletePublicAccessBlockCommand({ Bucket }));
    expect(await status('open')).toBe(200);
  });

  it('sets ownership controls, with which ACLs end', async () => {
    const OwnershipControls = { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' as const }] };
    await s3.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }));
    const read = await s3.send(new GetBucketOwnershipControlsCommand({ Bucket }));
    expect(read.OwnershipControls).toEqual(OwnershipControls);
    expect(await status('open')).toBe(403);
    await put('asked open', 'public-read');
    expect(await status('asked open')).toBe(403);
    const rejected = { code: 'AccessControlListNotSupported', status: 400 };
    expect(await refusal(s3.send(new PutObjectAclCommand({ Bucket, Key: 'open', ACL: 'public-read' })))).toEqual(
      rejected,
    );
  });

  it('renames an object, with a token of its own', async () => {
    await put('old name');
    await s3.send(new RenameObjectCommand({ Bucket, Key: 'new name', RenameSource: encodeURIComponent('old name') }));
    expect(await (await s3.send(new GetObjectCommand({ Bucket, Key: 'new name' }))).Body?.transformToString()).toBe(
      'seen',
    );
    const again = new RenameObjectCommand({ Bucket, Key: 'new name', RenameSource: 'absent' });
    expect(await refusal(s3.send(again))).toEqual({ code: 'NoSuchKey', status: 404 });
  });
});
