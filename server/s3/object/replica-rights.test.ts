import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aclCalls } from '../../../test/support/s3-api/acl-calls.ts';

const content = 'content';
const digest = { 'content-md5': createHash('md5').update(content).digest('base64') };
const year = '2099-01-01T00:00:00Z';
const retention = { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': year };
const legalHold = { 'x-amz-object-lock-legal-hold': 'ON' };
const tagged = { 'x-amz-tagging': 'class=secret' };
type Headers = Readonly<Record<string, string>>;

/** All attributes changed after the version was made. */
function changedNow(): Headers {
  const at = new Date(Date.now() + 60_000).toISOString();
  return {
    'x-minio-source-replication-tagging-timestamp': at,
    'x-minio-source-replication-retention-timestamp': at,
    'x-minio-source-replication-legalhold-timestamp': at,
  };
}

/** A version with these headers, and ann, who may do everything in S3, or the allowed actions, but the denied ones. */
async function versionWith(headers: Headers, denied: readonly string[], allowed: readonly string[] = ['s3:*']) {
  const all = { Effect: 'Allow', Action: allowed, Resource: '*' };
  const deny = { Effect: 'Deny', Action: denied, Resource: '*' };
  const calls = await aclCalls({ ann: [all, ...(denied.length === 0 ? [] : [deny])] });
  await calls.layer.createBucket('locked', { location: '', objectLock: true });
  const stored = await calls.as('root', 'PUT', '/locked/key', { body: content, headers: { ...digest, ...headers } });
  const versionId = stored.headers['x-amz-version-id'] ?? '';
  const target = `/locked/key?versionId=${versionId}`;
  const replicate = (attributes: Headers) =>
    calls.as('ann', 'PUT', target, {
      headers: {
        'x-amz-copy-source': target,
        'x-amz-metadata-directive': 'REPLACE',
        'x-minio-source-replication-request': 'true',
        'x-minio-source-mtime': new Date().toISOString(),
        ...attributes,
      },
    });
  const head = async () => (await calls.as('root', 'HEAD', target)).headers;
  return { ...calls, target, replicate, head };
}

describe('the attributes of a replica', () => {
  it.each([
    ['a legal hold that ends', legalHold, {}, 's3:PutObjectLegalHold'],
    ['a new legal hold', {}, legalHold, 's3:PutObjectLegalHold'],
    ['a retention that ends', retention, {}, 's3:PutObjectRetention'],
    ['a retention that ends, which bypasses GOVERNANCE', retention, {}, 's3:BypassGovernanceRetention'],
    ['a new retention', {}, retention, 's3:PutObjectRetention'],
    ['tags that end', tagged, {}, 's3:DeleteObjectTagging'],
    ['tags that end', tagged, {}, 's3:ReplicateTags'],
    ['other tags', tagged, { 'x-amz-tagging': 'class=public' }, 's3:PutObjectTagging'],
    ['other tags', tagged, { 'x-amz-tagging': 'class=public' }, 's3:ReplicateTags'],
  ] as const)('with %s are refused where a statement denies it: %o to %o, %s', async (_, before, after, action) => {
    const denied = await versionWith(before, [action]);
    const shown = await denied.head();
    expect(await denied.replicate({ ...changedNow(), ...after })).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await denied.head()).toEqual(shown);
    const allowed = await versionWith(before, []);
    expect(await allowed.replicate({ ...changedNow(), ...after })).toMatchObject({ status: 200, code: undefined });
  });

  it('end no GOVERNANCE by the right to replicate alone', async () => {
    const rights = ['ReplicateObject', 'PutObject', 'GetObject', 'GetObjectVersion', 'PutObjectRetention'];
    const { replicate, head } = await versionWith(
      retention,
      [],
      [...rights, 'ReplicateTags'].map((name) => `s3:${name}`),
    );
    expect(await replicate(changedNow())).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await head()).toMatchObject({ 'x-amz-object-lock-mode': 'GOVERNANCE' });
  });

  it.each([
    ['without a lock', {}],
    ['with a legal hold that was always off', { 'x-amz-object-lock-legal-hold': 'OFF' }],
    ['with other tags', { 'x-amz-tagging': 'class=public' }],
  ])('%s leave the lock, also where the sender may end it', async (_what, after) => {
    const locked = await versionWith({ ...retention, ...legalHold }, []);
    const { 'x-minio-source-replication-tagging-timestamp': at = '' } = changedNow();
    const tagging = { 'x-minio-source-replication-tagging-timestamp': at };
    expect((await locked.replicate({ ...tagging, ...after })).status).toBe(200);
    expect(await locked.head()).toMatchObject({ ...legalHold, 'x-amz-object-lock-mode': 'GOVERNANCE' });
  });

  it('that are the same need no right to change them', async () => {
    const { replicate } = await versionWith({}, [
      's3:PutObjectLegalHold',
      's3:PutObjectRetention',
      's3:BypassGovernanceRetention',
      's3:PutObjectTagging',
      's3:DeleteObjectTagging',
      's3:ReplicateTags',
    ]);
    expect(await replicate({ 'x-amz-meta-colour': 'red' })).toMatchObject({ status: 200, code: undefined });
  });

  it.each(['if-match', 'if-none-match', 'x-amz-copy-source-if-match', 'x-amz-copy-source-if-none-match'])(
    'take no condition, which nothing would compare: %s',
    async (name) => {
      const { replicate } = await versionWith({}, []);
      expect(await replicate({ [name]: '"0"' })).toMatchObject({ status: 501, code: 'NotImplemented' });
    },
  );
});

describe('the tags of a new replica', () => {
  it.each([
    ['PUT', '/locked/new', ''],
    ['POST', '/locked/new', 'uploads&'],
  ])('are refused where a statement denies to set tags: %s', async (method, path, subresource) => {
    for (const [denied, status] of [
      [['s3:PutObjectTagging'], 403],
      [[], 200],
    ] as const) {
      const { as } = await versionWith({}, denied);
      const modified = Date.now();
      const versionId = modified.toString(16).padStart(12, '0') + '0'.repeat(20);
      const headers = {
        ...tagged,
        'x-minio-source-replication-request': 'true',
        'x-minio-source-mtime': new Date(modified).toISOString(),
      };
      expect(await as('ann', method, `${path}?${subresource}versionId=${versionId}`, { headers })).toMatchObject({
        status,
      });
    }
  });
});
