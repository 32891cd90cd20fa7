import { beforeEach, describe, expect, it } from 'vitest';
import { aclCalls, type AclCalls } from '../../../test/support/s3-api/acl-calls.ts';

const headers = { 'x-amz-account-id': '000000000000' };
const path = `/v20180820/tags/${encodeURIComponent('arn:aws:s3:::bucket')}`;
const document = (...tags: readonly (readonly [string, string])[]) =>
  '<TagResourceRequest xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/"><Tags>' +
  tags.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`).join('') +
  '</Tags></TagResourceRequest>';

let calls: AclCalls;
beforeEach(async () => {
  const all = ['s3:ListTagsForResource', 's3:TagResource', 's3:UntagResource'];
  calls = await aclCalls({
    ann: [{ Effect: 'Allow', Action: all, Resource: 'arn:aws:s3:::bucket' }],
    bob: [{ Effect: 'Allow', Action: 's3:*BucketTagging', Resource: '*' }],
  });
});
const list = async () => (await calls.as('ann', 'GET', path, { headers })).body.match(/<Tag>.*?<\/Tag>/g) ?? [];
const add = (...tags: readonly (readonly [string, string])[]) =>
  calls.as('ann', 'POST', path, { headers, body: document(...tags) });
const tag = (key: string, value: string) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;

describe('the tags of a resource in S3 Control', () => {
  it('are none at first, and no error', async () => {
    const { status, body } = await calls.as('ann', 'GET', path, { headers });
    expect({ status, body }).toEqual({
      status: 200,
      body: '<?xml version="1.0" encoding="UTF-8"?>\n<ListTagsForResourceResult xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/"><Tags/></ListTagsForResourceResult>',
    });
  });

  it('are added to those of the bucket, and replace those of the same key', async () => {
    expect(await add(['a', '1'], ['b', '2'])).toMatchObject({ status: 204, body: '' });
    await add(['b', '3'], ['c', '4']);
    expect(await list()).toEqual([tag('a', '1'), tag('b', '3'), tag('c', '4')]);
    const { body } = await calls.as('root', 'GET', '/bucket?tagging');
    expect(body).toContain(`<TagSet>${tag('a', '1')}${tag('b', '3')}${tag('c', '4')}</TagSet>`);
  });

  it('are removed by their keys', async () => {
    await add(['a', '1'], ['b', '2'], ['c d', '3']);
    const reply = await calls.as('ann', 'DELETE', `${path}?tagKeys=a&tagKeys=c%20d&tagKeys=absent`, { headers });
    expect(reply).toMatchObject({ status: 204, body: '' });
    expect(await list()).toEqual([tag('b', '2')]);
    await calls.as('ann', 'DELETE', `${path}?tagKeys=b`, { headers });
    expect((await calls.as('root', 'GET', '/bucket?tagging')).code).toBe('NoSuchTagSet');
  });

  it('are at most 50 together, and a request beyond changes nothing', async () => {
    const tags = Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v'] as const);
    await add(...tags);
    expect(await add(['one-more', 'v'])).toMatchObject({ status: 400, code: 'BadRequest' });
    expect(await list()).toHaveLength(50);
  });

  it.each([
    ['of a bucket that is not there', 'root', 'GET', 'arn:aws:s3:::absent', 404, 'NoSuchBucket'],
    ['of an object', 'root', 'GET', 'arn:aws:s3:::bucket/key', 501, 'NotImplemented'],
    ['of an access point', 'root', 'GET', 'arn:aws:s3:us-east-1:000000000000:accesspoint/ap', 501, 'NotImplemented'],
    ['of no ARN', 'root', 'GET', 'bucket', 400, 'InvalidRequest'],
    ['of no valid bucket', 'root', 'GET', 'arn:aws:s3:::B', 400, 'InvalidBucketName'],
    ['for a caller with other rights', 'bob', 'GET', 'arn:aws:s3:::bucket', 403, 'AccessDenied'],
    ['for a caller without credentials', 'stranger', 'GET', 'arn:aws:s3:::bucket', 403, 'AccessDenied'],
    ['with another method', 'root', 'PUT', 'arn:aws:s3:::bucket', 405, 'MethodNotAllowed'],
    ['without keys to remove', 'root', 'DELETE', 'arn:aws:s3:::bucket', 400, 'InvalidRequest'],
    ['with another document', 'root', 'POST', 'arn:aws:s3:::bucket', 400, 'MalformedXML'],
  ] as const)('are refused %s', async (_what, caller, method, arn, status, code) => {
    const target = `/v20180820/tags/${encodeURIComponent(arn)}`;
    expect(await calls.as(caller, method, target, { headers, body: '<Tagging/>' })).toMatchObject({ status, code });
  });

  it('are refused to another account', async () => {
    const other = { 'x-amz-account-id': '123456789012' };
    expect((await calls.as('root', 'GET', path, { headers: other })).code).toBe('AccessDenied');
  });

  it('are refused with an ARN that is no UTF-8', async () => {
    expect((await calls.as('root', 'GET', '/v20180820/tags/%ff', { headers })).code).toBe('InvalidURI');
  });

  it('reads no document of a caller without the right', async () => {
    const reply = await calls.as('bob', 'POST', path, { headers, body: document(['a', '1']) });
    expect(reply).toMatchObject({ code: 'AccessDenied', bytesRead: 0 });
  });

  it('takes the ARN without percent-encoding', async () => {
    expect((await calls.as('ann', 'GET', '/v20180820/tags/arn:aws:s3:::bucket', { headers })).status).toBe(200);
  });
});
