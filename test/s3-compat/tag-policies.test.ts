import { beforeEach, describe, expect, it } from 'vitest';
import { writeZip } from '../../server/administration/zip.ts';
import { authorize } from '../../server/auth/authorize.ts';
import { existingTags } from '../../server/objects/attributes/existing-object.ts';
import { adminTest } from '../support/admin/admin.ts';
import { testCalls, type CallOptions, type TestCalls } from '../support/s3-api/s3-calls.ts';

const denySecret = {
  Effect: 'Deny',
  Action: ['s3:*'],
  Resource: ['arn:aws:s3:::*'],
  Condition: { StringEquals: { 's3:ExistingObjectTag/class': ['secret'] } },
};
const limits = {
  Effect: 'Deny',
  Action: ['s3:PutObject', 's3:PutObjectTagging', 's3:PutObjectRetention'],
  Resource: ['arn:aws:s3:::*'],
};
/** As `mc admin cluster iam export` of MinIO writes it. */
const policy = {
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] },
    denySecret,
    { ...limits, Condition: { StringEquals: { 's3:RequestObjectTag/class': ['secret'] } } },
    { ...limits, Condition: { 'ForAnyValue:StringEquals': { 's3:RequestObjectTagKeys': ['forbidden'] } } },
    { ...limits, Condition: { NumericGreaterThan: { 's3:object-lock-remaining-retention-days': ['10'] } } },
    { ...limits, Condition: { StringEquals: { 's3:object-lock-mode': ['COMPLIANCE'] } } },
  ],
};

let calls: TestCalls;
/** True for calls of root, which no policy decides. */
let asRoot: boolean;
beforeEach(async () => {
  const admin = await adminTest();
  const files = {
    policies: { 'no-secrets': policy },
    users: { ann: { secretKey: 'ann-password', status: 'enabled' } },
    user_mappings: { ann: { version: 0, policy: 'no-secrets' } },
  };
  const archive = await writeZip(
    Object.entries(files).map(([name, value]) => ({
      name: `iam-assets/${name}.json`,
      content: Buffer.from(JSON.stringify(value)),
    })),
    new Date(),
  );
  expect((await admin.call('root', 'PUT', 'import-iam-v2', { plain: archive })).status).toBe(200);
  asRoot = true;
  calls = await testCalls({
    authenticate: ({ body, headers }) =>
      Promise.resolve({
        principal: asRoot
          ? { kind: 'root', accessKey: 'root' }
          : { kind: 'user', accessKey: 'ann', subject: { kind: 'user', name: 'ann' } },
        body,
        size: Number(headers['content-length']),
      }),
    authorize: async (request) => {
      const sources = {
        bucketAccess: () => Promise.resolve(undefined),
        objectTags: existingTags({ records: calls.records }),
        objectAcl: () => Promise.resolve(undefined),
      };
      return (await authorize(request, admin.identities, sources)).kind === 'allow';
    },
  });
  await calls.layer.createBucket('locked', { location: '', objectLock: true });
  for (const name of ['secret', 'public']) {
    await calls.call('PUT', `/bucket/${name}`, { body: name, headers: { 'x-amz-tagging': `class=${name}` } });
  }
  asRoot = false;
});

const code = async (method: string, target: string, more: CallOptions = {}) =>
  (await calls.call(method, target, more)).code;
const copy = (name: string) => code('PUT', '/bucket/copy', { headers: { 'x-amz-copy-source': `/bucket/${name}` } });
const tagging = (key: string, value: string) =>
  `<Tagging><TagSet><Tag><Key>${key}</Key><Value>${value}</Value></Tag></TagSet></Tagging>`;
const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

describe('a policy of MinIO with a Deny on a tag', () => {
  it.each<[string, string, CallOptions?]>([
    ['GET', '/bucket/NAME'],
    ['HEAD', '/bucket/NAME'],
    ['GET', '/bucket/NAME?attributes', { headers: { 'x-amz-object-attributes': 'ETag' } }],
    ['GET', '/bucket/NAME?acl'],
    ['GET', '/bucket/NAME?tagging'],
    ['GET', '/bucket/NAME?versionId=null'],
    ['PUT', '/bucket/NAME?tagging', { body: tagging('class', 'public') }],
    ['DELETE', '/bucket/NAME?tagging'],
    ['DELETE', '/bucket/NAME'],
    ['PUT', '/bucket/NAME', { body: 'new' }],
    ['POST', '/bucket/NAME?uploads'],
  ])('holds on %s %s', async (method, target, more) => {
    expect(await code(method, target.replace('NAME', 'secret'), more)).toBe('AccessDenied');
    expect((await calls.call(method, target.replace('NAME', 'public'), more)).status).toBeLessThan(300);
  });

  it('holds on the source of a copy', async () => {
    expect(await copy('secret')).toBe('AccessDenied');
    expect(await copy('public')).toBeUndefined();
  });

  it('holds on the source of a part', async () => {
    const { body } = await calls.call('POST', '/bucket/up?uploads');
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const part = (name: string) =>
      code('PUT', `/bucket/up?partNumber=1&uploadId=${uploadId}`, {
        headers: { 'x-amz-copy-source': `/bucket/${name}` },
      });
    expect(await part('secret')).toBe('AccessDenied');
    expect(await part('public')).toBeUndefined();
  });

  it('holds on each object of DeleteObjects', async () => {
    const objects = ['secret', 'public'].map((key) => `<Object><Key>${key}</Key></Object>`).join('');
    const { body } = await calls.call('POST', '/bucket?delete', { body: `<Delete>${objects}</Delete>` });
    expect(body).toMatch(/<Error><Key>secret<\/Key><Code>AccessDenied/);
    expect(body).toMatch(/<Deleted><Key>public<\/Key>/);
  });

  it('holds on versions by their own tags', async () => {
    asRoot = true;
    await calls.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await calls.call('PUT', '/bucket/secret', { body: 'open' });
    asRoot = false;
    expect(await code('GET', '/bucket/secret')).toBeUndefined();
    expect(await code('GET', '/bucket/secret?versionId=null')).toBe('AccessDenied');
    const source = { headers: { 'x-amz-copy-source': '/bucket/secret?versionId=null' } };
    expect(await code('PUT', '/bucket/copy', source)).toBe('AccessDenied');
    const body = '<Delete><Object><Key>secret</Key><VersionId>null</VersionId></Object></Delete>';
    expect((await calls.call('POST', '/bucket?delete', { body })).body).toContain('AccessDenied');
  });

  it('does not tell what is there', async () => {
    expect(await code('GET', '/bucket/secret', { headers: { 'if-match': '"another"' } })).toBe('AccessDenied');
    expect(await code('GET', '/bucket/absent')).toBe('NoSuchKey');
  });
});

describe('a Deny on the tags or the lock that a request sends', () => {
  it.each<[string, string, CallOptions]>([
    ['a tag by header', '/bucket/new', { headers: { 'x-amz-tagging': 'class=secret' } }],
    ['a tag key by header', '/bucket/new', { headers: { 'x-amz-tagging': 'a=b&forbidden=1' } }],
    ['a tag by document', '/bucket/public?tagging', { body: tagging('class', 'secret') }],
    ['a tag key by document', '/bucket/public?tagging', { body: tagging('forbidden', '1') }],
    [
      'a long retention by header',
      '/locked/new',
      { headers: { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': later(12) } },
    ],
    [
      'a mode by header',
      '/locked/new',
      { headers: { 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-object-lock-retain-until-date': later(5) } },
    ],
    [
      'a long retention by document',
      '/locked/new?retention',
      { body: `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${later(12)}</RetainUntilDate></Retention>` },
    ],
  ])('holds on %s', async (_, target, more) => {
    expect(await code('PUT', target, more)).toBe('AccessDenied');
  });

  it('lets all others pass', async () => {
    expect(await code('PUT', '/bucket/new', { headers: { 'x-amz-tagging': 'class=public' } })).toBeUndefined();
    expect(await code('PUT', '/bucket/new?tagging', { body: tagging('class', 'other') })).toBeUndefined();
    const lock = { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': later(5) };
    const digest = { 'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==' };
    expect(await code('PUT', '/locked/new', { headers: { ...lock, ...digest } })).toBeUndefined();
  });

  it('holds on a copy of the tags', async () => {
    asRoot = true;
    await calls.call('PUT', '/bucket/source', { body: 'x', headers: { 'x-amz-tagging': 'forbidden=1' } });
    asRoot = false;
    expect(await code('PUT', '/bucket/copy', { headers: { 'x-amz-copy-source': '/bucket/source' } })).toBe(
      'AccessDenied',
    );
  });
});
