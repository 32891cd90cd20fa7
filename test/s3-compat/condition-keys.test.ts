import { describe, expect, it } from 'vitest';
import { aclCalls, type AclCalls } from '../support/s3-api/acl-calls.ts';

const allowAll = { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' };
const uploadIn = (body: string) => /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';

describe('s3:ObjectCreationOperation', () => {
  const onlyNew = {
    Effect: 'Deny',
    Action: 's3:PutObject',
    Resource: 'arn:aws:s3:::*',
    Condition: { Null: { 's3:if-none-match': 'true' }, Bool: { 's3:ObjectCreationOperation': 'true' } },
  };
  const condition = { 'if-none-match': '*' };
  // They let a write replace an object, or name nothing.
  const others = ['"x"', '"x", W/"y"', 'x', '""', '', ' ', ',', 'W/'];

  it.each([
    ['PUT', '/bucket/key', {}],
    ['PUT', '/bucket/key', { 'x-amz-copy-source': '/bucket/source' }],
    ['PUT', '/bucket/key?renameObject', { 'x-amz-rename-source': '/source' }],
  ])('is true for %s %s', async (method, target, headers: Record<string, string>) => {
    const { as } = await aclCalls({ ann: [allowAll, onlyNew] });
    await as('root', 'PUT', '/bucket/source', { body: 'source' });
    expect((await as('ann', method, target, { headers })).code).toBe('AccessDenied');
    for (const other of others) {
      const { code } = await as('ann', method, target, { headers: { ...headers, 'if-none-match': other } });
      expect(code, other).toBe('AccessDenied');
    }
    expect((await as('ann', method, target, { headers: { ...headers, ...condition } })).status).toBe(200);
  });

  it('is false for the beginning and the parts of an upload, and true for its completion', async () => {
    const { as } = await aclCalls({ ann: [allowAll, onlyNew] });
    await as('root', 'PUT', '/bucket/source', { body: 'source' });
    const uploadId = uploadIn((await as('ann', 'POST', '/bucket/key?uploads')).body);
    const part = await as('ann', 'PUT', `/bucket/key?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
    const copied = { headers: { 'x-amz-copy-source': '/bucket/source' } };
    expect((await as('ann', 'PUT', `/bucket/key?partNumber=2&uploadId=${uploadId}`, copied)).status).toBe(200);
    const listed = `<Part><PartNumber>1</PartNumber><ETag>${part.headers['etag']}</ETag></Part>`;
    const body = `<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`;
    const target = `/bucket/key?uploadId=${uploadId}`;
    expect((await as('ann', 'POST', target, { body })).code).toBe('AccessDenied');
    for (const other of others) {
      const { code } = await as('ann', 'POST', target, { body, headers: { 'if-none-match': other } });
      expect(code, other).toBe('AccessDenied');
    }
    expect((await as('ann', 'POST', target, { body, headers: condition })).status).toBe(200);
  });
});

const ofTeam = (effect: string) => ({
  Effect: effect,
  Action: 's3:*',
  Resource: 'arn:aws:s3:::*',
  Condition: { StringEquals: { 's3:BucketTag/Team': 'a' } },
});
const tag = ({ as }: AclCalls, value: string) =>
  as('root', 'PUT', '/bucket?tagging', {
    body: `<Tagging><TagSet><Tag><Key>team</Key><Value>${value}</Value></Tag></TagSet></Tagging>`,
  });

describe('s3:BucketTag', () => {
  it('allows what the tags of the bucket say, at the moment of the request', async () => {
    const calls = await aclCalls({ ann: [ofTeam('Allow')] });
    const put = async () => (await calls.as('ann', 'PUT', '/bucket/key', { body: 'x' })).status;
    expect(await put()).toBe(403);
    await tag(calls, 'a');
    expect(await put()).toBe(200);
    await tag(calls, 'b');
    expect(await put()).toBe(403);
  });

  it('denies in the policy of an identity and in that of the bucket', async () => {
    const calls = await aclCalls({ ann: [allowAll, ofTeam('Deny')] });
    expect((await calls.as('ann', 'GET', '/bucket')).status).toBe(200);
    await tag(calls, 'a');
    expect((await calls.as('ann', 'GET', '/bucket')).status).toBe(403);
    const policy = {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: '*',
          Action: 's3:GetObject',
          Resource: 'arn:aws:s3:::bucket/*',
          Condition: { StringEquals: { 's3:BucketTag/team': 'a' } },
        },
      ],
    };
    await calls.as('root', 'PUT', '/bucket?policy', { body: JSON.stringify(policy) });
    await calls.as('root', 'PUT', '/bucket/key', { body: 'x' });
    expect((await calls.as('stranger', 'GET', '/bucket/key')).status).toBe(200);
    await tag(calls, 'b');
    expect((await calls.as('stranger', 'GET', '/bucket/key')).status).toBe(403);
  });
});
