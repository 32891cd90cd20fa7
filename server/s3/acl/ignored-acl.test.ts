import { describe, expect, it } from 'vitest';
import { ownerId } from '../../../protocol/s3/acl.ts';
import { aclCalls, annId, type AclCalls, ownershipDocument } from '../../../test/support/s3-api/acl-calls.ts';
import { formBody, formHeaders } from '../../../test/support/s3-api/post-forms.ts';
import { ignoreAndReportOnce } from './canned-acl-rule.ts';

const canned = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  headers: { 'x-amz-acl': name, ...more },
});
const mayUpload = [{ Effect: 'Allow', Action: ['s3:PutObject', 's3:GetObject'], Resource: 'arn:aws:s3:::bucket/*' }];
const publicNames = ['public-read', 'public-read-write', 'authenticated-read'];

/** Completes an upload of one part, and returns the status of its creation. */
async function uploadInParts({ as }: AclCalls, key: string, acl: string): Promise<number> {
  const created = await as('ann', 'POST', `/bucket/${key}?uploads`, canned(acl));
  const id = /<UploadId>(.*)<\/UploadId>/.exec(created.body)?.[1];
  if (id === undefined) return created.status;
  const { headers } = await as('ann', 'PUT', `/bucket/${key}?partNumber=1&uploadId=${id}`, { body: 'part' });
  const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag></Part>`;
  const body = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
  expect(await as('ann', 'POST', `/bucket/${key}?uploadId=${id}`, { body })).toMatchObject({ status: 200 });
  return created.status;
}

/** The ways to make an object with a canned ACL, by a user who may put objects and may not set ACLs. */
const ways: readonly (readonly [string, (calls: AclCalls, acl: string) => Promise<number>])[] = [
  ['PutObject', async ({ as }, acl) => (await as('ann', 'PUT', '/bucket/key', { ...canned(acl), body: 'x' })).status],
  [
    'CopyObject',
    async ({ as }, acl) => {
      await as('root', 'PUT', '/bucket/source', { body: 'x' });
      return (await as('ann', 'PUT', '/bucket/key', canned(acl, { 'x-amz-copy-source': '/bucket/source' }))).status;
    },
  ],
  [
    'a form',
    async ({ as }, acl) => {
      const body = formBody({ key: 'key', acl }, { content: 'x' });
      const { status } = await as('ann', 'POST', '/bucket', { headers: formHeaders, body });
      return status === 204 ? 200 : status;
    },
  ],
  ['CreateMultipartUpload', (calls, acl) => uploadInParts(calls, 'key', acl)],
];

describe('a canned ACL where ACLs do not count', () => {
  it.each(ways.flatMap(([way, make]) => publicNames.map((acl) => [way, acl, make] as const)))(
    'is ignored by %s, and %s opens nothing when ACLs count later',
    async (_way, acl, make) => {
      const calls = await aclCalls({ ann: mayUpload });
      expect(await make(calls, acl)).toBe(200);
      const { as } = calls;
      expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
      const body = ownershipDocument('ObjectWriter');
      expect(await as('root', 'PUT', '/bucket?ownershipControls', { body })).toMatchObject({ status: 200 });
      expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
      expect(await as('bob', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
      const shown = (await as('root', 'GET', '/bucket/key?acl')).body;
      expect(shown).toContain(`<ID>${ownerId}</ID>`);
      expect(shown).not.toContain('AllUsers');
      expect(shown).not.toContain('AuthenticatedUsers');
    },
  );

  it('is ignored by CreateBucket, and opens nothing when ACLs count later', async () => {
    const { as } = await aclCalls({
      ann: [{ Effect: 'Allow', Action: 's3:CreateBucket', Resource: 'arn:aws:s3:::*' }],
    });
    expect(await as('ann', 'PUT', '/another', canned('public-read-write'))).toMatchObject({ status: 200 });
    await as('root', 'PUT', '/another?ownershipControls', { body: ownershipDocument('ObjectWriter') });
    expect(await as('stranger', 'GET', '/another')).toMatchObject({ status: 403 });
    expect(await as('stranger', 'PUT', '/another/key', { body: 'x' })).toMatchObject({ status: 403 });
    expect((await as('root', 'GET', '/another?acl')).body).not.toContain('AllUsers');
  });

  it.each(ways)('needs no s3:PutObjectAcl by %s, but a Deny of it holds', async (_way, make) => {
    const deny = { Effect: 'Deny', Action: 's3:PutObjectAcl', Resource: 'arn:aws:s3:::bucket/*' };
    expect(await make(await aclCalls({ ann: [...mayUpload, deny] }), 'public-read')).toBe(403);
  });

  it.each(ways)('is absent for %s where it is empty, also for a Deny that requires it', async (_way, make) => {
    for (const rule of ['ignore', 'refuse'] as const) {
      const calls = await aclCalls({ ann: mayUpload }, rule);
      expect(await make(calls, '')).toBe(200);
      expect(calls.ignoredAcls).toEqual([]);
    }
    const requiring = { ...mayUpload[0], Effect: 'Deny', Condition: { Null: { 's3:x-amz-acl': 'true' } } };
    expect(await make(await aclCalls({ ann: [...mayUpload, requiring] }), '')).toBe(403);
  });

  it.each(ways)('is refused by %s where a condition on s3:x-amz-acl denies it', async (_way, make) => {
    const deny = {
      Effect: 'Deny',
      Action: 's3:PutObject',
      Resource: 'arn:aws:s3:::bucket/*',
      Condition: { StringEquals: { 's3:x-amz-acl': publicNames } },
    };
    expect(await make(await aclCalls({ ann: [...mayUpload, deny] }), 'public-read')).toBe(403);
  });

  it('of a new bucket is refused where a statement denies s3:PutBucketAcl', async () => {
    const { as } = await aclCalls({
      ann: [
        { Effect: 'Allow', Action: 's3:CreateBucket', Resource: 'arn:aws:s3:::*' },
        { Effect: 'Deny', Action: 's3:PutBucketAcl', Resource: 'arn:aws:s3:::*' },
      ],
    });
    expect(await as('ann', 'PUT', '/another', canned('public-read'))).toMatchObject({ status: 403 });
    expect(await as('root', 'HEAD', '/another')).toMatchObject({ status: 404 });
  });

  it.each(ways)('is refused by %s where BlockPublicAcls of the bucket blocks it', async (_way, make) => {
    const calls = await aclCalls({ ann: mayUpload });
    const body =
      '<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></PublicAccessBlockConfiguration>';
    await calls.as('root', 'PUT', '/bucket?publicAccessBlock', { body });
    expect(await make(calls, 'public-read')).toBe(403);
    expect(await calls.as('root', 'HEAD', '/bucket/key')).toMatchObject({ status: 404 });
  });

  it.each(ways)('is refused by %s where BlockPublicAcls of the account blocks it', async (_way, make) => {
    const calls = await aclCalls({ ann: mayUpload });
    await calls.layer.putAccountPublicAccessBlock({
      blockPublicAcls: true,
      ignorePublicAcls: false,
      blockPublicPolicy: false,
      restrictPublicBuckets: false,
    });
    expect(await make(calls, 'public-read')).toBe(403);
    expect(await calls.as('root', 'PUT', '/another', canned('public-read'))).toMatchObject({ status: 403 });
  });

  it.each(ways)('that does not exist is refused by %s', async (_way, make) => {
    expect(await make(await aclCalls({ ann: mayUpload }), 'publik-read')).toBe(400);
  });

  it('of an upload that is completed after ACLs began to count opens nothing', async () => {
    const { as } = await aclCalls({ ann: mayUpload });
    const created = await as('ann', 'POST', '/bucket/key?uploads', canned('public-read'));
    const id = /<UploadId>(.*)<\/UploadId>/.exec(created.body)?.[1] ?? '';
    const { headers } = await as('ann', 'PUT', `/bucket/key?partNumber=1&uploadId=${id}`, { body: 'part' });
    await as('root', 'PUT', '/bucket?ownershipControls', { body: ownershipDocument('ObjectWriter') });
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag></Part>`;
    const body = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
    expect(await as('ann', 'POST', `/bucket/key?uploadId=${id}`, { body })).toMatchObject({ status: 200 });
    expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
  });

  it('is reported with its bucket and the program', async () => {
    const { as, ignoredAcls } = await aclCalls({ ann: mayUpload });
    await as('ann', 'PUT', '/bucket/key', { ...canned('public-read', { 'user-agent': 'Strapi/5.1 node' }), body: 'x' });
    await as('ann', 'PUT', '/bucket/key', { ...canned('private'), body: 'x' });
    expect(ignoredAcls).toEqual([{ bucket: 'bucket', acl: 'public-read', userAgent: 'Strapi/5.1 node' }]);
  });
});

describe('what is refused where ACLs do not count', () => {
  const grant = { headers: { 'x-amz-grant-read': `id=${annId}` } };
  const wayOut = /PutBucketOwnershipControls/;

  it.each<[string, string, { readonly headers: Readonly<Record<string, string>> }]>([
    ['a grant of PutObject', '/bucket/key', grant],
    ['PutObjectAcl', '/bucket/of-root?acl', canned('public-read')],
    ['PutBucketAcl', '/bucket?acl', canned('public-read')],
  ])('%s names the way out', async (_what, target, more) => {
    const { as } = await aclCalls();
    await as('root', 'PUT', '/bucket/of-root', { body: 'x' });
    const reply = await as('root', 'PUT', target, more);
    expect(reply).toMatchObject({ status: 400, code: 'AccessControlListNotSupported' });
    expect(reply.refusal).toMatch(wayOut);
  });

  it.each(ways)('with SVC_API_ACL=refuse: a canned ACL of %s', async (_way, make) => {
    const calls = await aclCalls({ ann: [{ Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' }] }, 'refuse');
    expect(await make(calls, 'public-read')).toBe(400);
    const reply = await calls.as('ann', 'PUT', '/bucket/key', { ...canned('public-read'), body: 'x' });
    expect(reply.code).toBe('AccessControlListNotSupported');
    expect(reply.refusal).toContain('SVC_API_ACL');
    expect(await calls.as('ann', 'PUT', '/another', canned('public-read'))).toMatchObject({
      status: 400,
      code: 'InvalidBucketAclWithObjectOwnership',
    });
    expect(calls.ignoredAcls).toEqual([]);
  });
});

const ignoredBy = (userAgent: string | undefined, bucket = 'bucket') => ({
  bucket,
  acl: 'public-read' as const,
  userAgent,
});

describe('the report of canned ACLs that are ignored', () => {
  it('comes once for each bucket and program, whatever the version', () => {
    const reported: string[] = [];
    const rule = ignoreAndReportOnce(({ bucket, program }) => reported.push(`${bucket} ${program}`));
    if (rule.kind !== 'ignore') throw new Error('the rule ignores');
    rule.report(ignoredBy('aws-sdk-js/3.654.0 ua/2.0'));
    rule.report(ignoredBy('aws-sdk-js/3.700.0 ua/2.0'));
    rule.report(ignoredBy('aws-sdk-js/3.700.0 ua/2.0', 'other'));
    rule.report(ignoredBy(undefined));
    rule.report(ignoredBy('Boto3 1.35'));
    expect(reported).toEqual(['bucket aws-sdk-js', 'other aws-sdk-js', 'bucket unknown', 'bucket Boto3']);
  });

  it('comes for new programs after 1,000, and again for one that was forgotten', () => {
    const reported: string[] = [];
    const rule = ignoreAndReportOnce(({ program }) => reported.push(program));
    if (rule.kind !== 'ignore') throw new Error('the rule ignores');
    for (let at = 0; at < 1_100; at += 1) rule.report(ignoredBy(`program-${at}/1`));
    expect(reported).toHaveLength(1_100);
    rule.report(ignoredBy('program-1099/1'));
    expect(reported).toHaveLength(1_100);
    rule.report(ignoredBy('program-0/1'));
    expect(reported.slice(1_100)).toEqual(['program-0']);
  });
});
