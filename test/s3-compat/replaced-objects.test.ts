import { describe, expect, it } from 'vitest';
import { type AclCalls, aclCalls } from '../support/s3-api/acl-calls.ts';
import type { Reply } from '../support/s3-api/s3-calls.ts';

const when = (condition: object) => [
  { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::bucket/*', Condition: condition },
  { Effect: 'Allow', Action: 's3:*', Resource: ['arn:aws:s3:::bucket', 'arn:aws:s3:::bucket/free'] },
];
const ofPublic = when({ StringEquals: { 's3:ExistingObjectTag/class': 'public' } });
const tagged = (value: string) => ({ headers: { 'x-amz-tagging': `class=${value}` }, body: value });
const tagging = '<Tagging><TagSet><Tag><Key>class</Key><Value>public</Value></Tag></TagSet></Tagging>';
const fromKey = { 'x-amz-copy-source': '/bucket/key', 'x-amz-tagging-directive': 'REPLACE' };

type Headers = Readonly<Record<string, string>>;

const rows = [
  ['GET', '/bucket/key'],
  ['HEAD', '/bucket/key'],
  ['GET', '/bucket/key?versionId=null'],
  ['GET', '/bucket/key?attributes', { 'x-amz-object-attributes': 'ETag' }],
  ['GET', '/bucket/key?tagging'],
  ['PUT', '/bucket/key?tagging', {}, tagging],
  ['DELETE', '/bucket/key?tagging'],
  ['GET', '/bucket/key?acl'],
  ['PUT', '/bucket/key', {}, 'new'],
  ['DELETE', '/bucket/key'],
  ['DELETE', '/bucket/key?versionId=null'],
  ['POST', '/bucket?delete', {}, '<Delete><Object><Key>key</Key></Object></Delete>'],
  ['PUT', '/bucket/free', fromKey],
  ['PUT', '/bucket/key', { 'x-amz-copy-source': '/bucket/free' }],
  ['PUT', '/bucket/free?renameObject', { 'x-amz-rename-source': '/key' }],
] as const;

/** The code of a refusal, also of one object in an answer of DeleteObjects. */
const codeOf = ({ code, body }: Reply) => code ?? /<Code>(.*)<\/Code>/.exec(body)?.[1];

async function prepared(policy = ofPublic): Promise<AclCalls> {
  const calls = await aclCalls({ ann: policy });
  await calls.as('root', 'PUT', '/bucket/free', { body: 'free' });
  return calls;
}

describe('an object whose tags allow a request', () => {
  it.each(rows)(
    'is the only one that the request gets: %s %s',
    async (method, target, sent?: Headers, sentBody?: string) => {
      const [headers, body] = [sent ?? {}, sentBody ?? ''];
      const { as, beforeOperation } = await prepared();
      await as('root', 'PUT', '/bucket/key', tagged('public'));
      const before = await as('ann', method, target, { headers, body });
      expect([before.status < 300, before.body.includes('<Error>')]).toEqual([true, false]);
      await as('root', 'PUT', '/bucket/key', tagged('public'));
      beforeOperation(() => as('root', 'PUT', '/bucket/key', tagged('secret')));
      const reply = await as('ann', method, target, { headers, body });
      // A request with several decisions is refused by one that already read the new tags.
      expect(codeOf(reply)).toMatch(/^(?:SlowDown|AccessDenied)$/);
      expect((await as('root', 'GET', '/bucket/key')).body).toBe('secret');
      expect((await as('root', 'GET', '/bucket/key?tagging')).body).toContain('<Value>secret</Value>');
      expect((await as('root', 'GET', '/bucket/free')).body).not.toBe('secret');
      // A repetition is decided by the tags of the new object.
      const repeated = await as('ann', method, target, { headers, body });
      expect(codeOf(repeated)).toBe('AccessDenied');
    },
  );

  it('is not replaced by a multipart upload under the tags of another one', async () => {
    const { as, beforeOperation } = await prepared();
    await as('root', 'PUT', '/bucket/key', tagged('public'));
    const { body } = await as('ann', 'POST', '/bucket/key?uploads');
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const { headers } = await as('ann', 'PUT', `/bucket/key?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag']}</ETag></Part>`;
    const list = { body: `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>` };
    beforeOperation(() => as('root', 'PUT', '/bucket/key', tagged('secret')));
    const reply = await as('ann', 'POST', `/bucket/key?uploadId=${uploadId}`, list);
    expect([reply.code, reply.body]).toContainEqual(expect.stringContaining('SlowDown'));
    expect((await as('root', 'GET', '/bucket/key')).body).toBe('secret');
  });
});

describe('a request that is allowed because there is no object', () => {
  const ofUntagged = when({ Null: { 's3:ExistingObjectTag/class': 'true' } });

  it.each([
    ['GET', '/bucket/key'],
    ['PUT', '/bucket/key'],
    ['DELETE', '/bucket/key'],
  ])('does not get one that comes meanwhile: %s %s', async (method, target) => {
    const { as, beforeOperation } = await prepared(ofUntagged);
    beforeOperation(() => as('root', 'PUT', '/bucket/key', tagged('secret')));
    expect((await as('ann', method, target, { body: 'new' })).code).toBe('SlowDown');
    expect((await as('root', 'GET', '/bucket/key')).body).toBe('secret');
  });

  it('creates one', async () => {
    const { as } = await prepared(ofUntagged);
    expect((await as('ann', 'PUT', '/bucket/key', { body: 'new' })).status).toBe(200);
  });
});
