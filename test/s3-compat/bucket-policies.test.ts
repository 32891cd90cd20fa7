import {
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  DeleteBucketTaggingCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetBucketTaggingCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'gallery';
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'picture', Body: 'seen by all' }));
});

const anonymous = (method: string, path: string, body?: string) =>
  fetch(`${server.s3}/${Bucket}${path}`, { method, ...(body === undefined ? {} : { body }) });
const statement = (Action: string[], Resource: string[], more: object = {}) => ({
  Effect: 'Allow',
  Principal: { AWS: ['*'] },
  Action,
  Resource: Resource.map((resource) => `arn:aws:s3:::${resource}`),
  ...more,
});
const put = (...statements: object[]) =>
  s3.send(
    new PutBucketPolicyCommand({
      Bucket,
      Policy: JSON.stringify({ Version: '2012-10-17', Statement: statements }),
    }),
  );

describe('the policy of a bucket', () => {
  it('is kept as it was sent, opens what it allows to strangers, and closes it when it goes', async () => {
    expect((await anonymous('GET', '/picture')).status).toBe(403);
    const sent = statement(['s3:GetObject'], [`${Bucket}/*`]);
    await put(sent);
    const { Policy = '' } = await s3.send(new GetBucketPolicyCommand({ Bucket }));
    expect(JSON.parse(Policy)).toEqual({ Version: '2012-10-17', Statement: [sent] });
    const { PolicyStatus } = await s3.send(new GetBucketPolicyStatusCommand({ Bucket }));
    expect(PolicyStatus?.IsPublic).toBe(true);

    expect(await (await anonymous('GET', '/picture')).text()).toBe('seen by all');
    expect((await anonymous('GET', '')).status).toBe(403);
    expect((await anonymous('PUT', '/upload', 'x')).status).toBe(403);
    expect((await anonymous('GET', '?policy')).status).toBe(403);

    await s3.send(new DeleteBucketPolicyCommand({ Bucket }));
    expect((await anonymous('GET', '/picture')).status).toBe(403);
    const none = { code: 'NoSuchBucketPolicy', status: 404 };
    expect(await refusal(s3.send(new GetBucketPolicyCommand({ Bucket })))).toEqual(none);
    expect(await refusal(s3.send(new GetBucketPolicyStatusCommand({ Bucket })))).toEqual(none);
  });

  it('lets strangers list and write where it says so, but for what it denies', async () => {
    await put(
      statement(['s3:ListBucket'], [Bucket]),
      statement(['s3:PutObject'], [`${Bucket}/*`]),
      statement(['s3:PutObject'], [`${Bucket}/closed/*`], { Effect: 'Deny', Principal: '*' }),
    );
    expect((await anonymous('PUT', '/upload', 'from a stranger')).status).toBe(200);
    expect((await anonymous('PUT', '/closed/upload', 'x')).status).toBe(403);
    expect(await (await anonymous('GET', '?list-type=2')).text()).toContain('<Key>upload</Key>');
    expect((await anonymous('GET', '/upload')).status).toBe(403);
  });

  it.each([
    ['no JSON', 'not json'],
    ['another bucket', JSON.stringify({ Statement: [statement(['s3:GetObject'], ['other/*'])] })],
    [
      'nobody it is about',
      JSON.stringify({ Statement: [statement(['s3:GetObject'], [Bucket], { Principal: undefined })] }),
    ],
    [
      'more than 20 KiB',
      JSON.stringify({ Statement: [statement(['s3:GetObject'], [Bucket], { Sid: 'x'.repeat(30_000) })] }),
    ],
  ])('is refused with %s', async (_, Policy) => {
    const rejected = await refusal(s3.send(new PutBucketPolicyCommand({ Bucket, Policy })));
    expect(rejected).toEqual({ code: 'MalformedPolicy', status: 400 });
  });

  it('needs a bucket', async () => {
    const missing = { code: 'NoSuchBucket', status: 404 };
    expect(await refusal(s3.send(new GetBucketPolicyCommand({ Bucket: 'no-such' })))).toEqual(missing);
    expect(await refusal(s3.send(new PutBucketPolicyCommand({ Bucket: 'no-such', Policy: '{}' })))).toEqual(missing);
  });
});

describe('the tags of a bucket', () => {
  it('are put in place of those before, read and deleted', async () => {
    const tag = (TagSet: { Key: string; Value: string }[]) =>
      s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
    await tag([{ Key: 'old', Value: 'x' }]);
    await tag([
      { Key: 'team', Value: 'photos' },
      { Key: 'cost', Value: '' },
    ]);
    const { TagSet } = await s3.send(new GetBucketTaggingCommand({ Bucket }));
    expect(TagSet).toEqual([
      { Key: 'cost', Value: '' },
      { Key: 'team', Value: 'photos' },
    ]);
    const twice = [
      { Key: 'a', Value: '1' },
      { Key: 'a', Value: '2' },
    ];
    expect(await refusal(tag(twice))).toEqual({ code: 'InvalidTag', status: 400 });
    await s3.send(new DeleteBucketTaggingCommand({ Bucket }));
    const none = { code: 'NoSuchTagSet', status: 404 };
    expect(await refusal(s3.send(new GetBucketTaggingCommand({ Bucket })))).toEqual(none);
  });
});
