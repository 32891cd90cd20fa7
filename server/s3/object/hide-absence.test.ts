import { describe, expect, it } from 'vitest';
import { aclCalls } from '../../../test/support/s3-api/acl-calls.ts';

const xml = {
  tags: '<Tagging><TagSet/></Tagging>',
  retention: '<Retention/>',
  hold: '<LegalHold><Status>OFF</Status></LegalHold>',
  restore: '<RestoreRequest><Days>1</Days></RestoreRequest>',
};
const noVersion = '0'.repeat(32);

/** Requests for the key `absent`. */
type Case = readonly [
  name: string,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
];
const requests: readonly Case[] = [
  ['GetObject', 'GET', '/bucket/absent', {}],
  ['HeadObject', 'HEAD', '/bucket/absent', {}],
  ['GetObjectAttributes', 'GET', '/bucket/absent?attributes', { 'x-amz-object-attributes': 'ETag' }],
  ['GetObjectAcl', 'GET', '/bucket/absent?acl', {}],
  ['PutObjectAcl', 'PUT', '/bucket/absent?acl', { 'x-amz-acl': 'private' }],
  ['GetObjectTagging', 'GET', '/bucket/absent?tagging', {}],
  ['PutObjectTagging', 'PUT', '/bucket/absent?tagging', {}, xml.tags],
  ['DeleteObjectTagging', 'DELETE', '/bucket/absent?tagging', {}],
  ['GetObjectRetention', 'GET', '/bucket/absent?retention', {}],
  ['PutObjectRetention', 'PUT', '/bucket/absent?retention', {}, xml.retention],
  ['GetObjectLegalHold', 'GET', '/bucket/absent?legal-hold', {}],
  ['PutObjectLegalHold', 'PUT', '/bucket/absent?legal-hold', {}, xml.hold],
  ['RestoreObject', 'POST', '/bucket/absent?restore', {}, xml.restore],
  ['CopyObject', 'PUT', '/bucket/target', { 'x-amz-copy-source': '/bucket/absent' }],
  ['UploadPartCopy', 'PUT', '/bucket/target?partNumber=1&uploadId=ID', { 'x-amz-copy-source': '/bucket/absent' }],
  ['RenameObject', 'PUT', '/bucket/target?renameObject', { 'x-amz-rename-source': '/absent' }],
];
const ofVersions = requests
  .filter(([name]) => name !== 'RenameObject')
  .map(([name, method, target, headers, body]): Case => {
    const source = headers['x-amz-copy-source'];
    if (source !== undefined) {
      return [name, method, target, { 'x-amz-copy-source': `${source}?versionId=${noVersion}` }, body];
    }
    return [name, method, `${target}${target.includes('?') ? '&' : '?'}versionId=${noVersion}`, headers, body];
  });

async function answer(listing: readonly string[], [, method, target, headers, body]: Case) {
  const all = { Effect: 'Allow', Action: 's3:*', Resource: '*' };
  const listings = ['s3:ListBucket', 's3:ListBucketVersions'].filter((action) => !listing.includes(action));
  const { as } = await aclCalls({ ann: [all, { Effect: 'Deny', Action: listings, Resource: '*' }] });
  const created = await as('root', 'POST', '/bucket/target?uploads');
  const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(created.body)?.[1] ?? '';
  return as('ann', method, target.replace('ID', uploadId), { headers, ...(body !== undefined && { body }) });
}

describe('a key that does not exist', () => {
  it.each(requests.map((request) => [request[0], request] as const))(
    'is known only to a caller who may list the bucket: %s',
    async (_, request) => {
      expect(await answer(['s3:ListBucketVersions'], request)).toMatchObject({ status: 403, code: 'AccessDenied' });
      expect(await answer(['s3:ListBucket'], request)).toMatchObject({ status: 404, code: 'NoSuchKey' });
    },
  );
});

describe('a version that does not exist', () => {
  it.each(ofVersions.map((request) => [request[0], request] as const))(
    'is known only to a caller who may list the versions: %s',
    async (_, request) => {
      expect(await answer(['s3:ListBucket'], request)).toMatchObject({ status: 403, code: 'AccessDenied' });
      expect(await answer(['s3:ListBucketVersions'], request)).toMatchObject({ status: 404, code: 'NoSuchVersion' });
    },
  );
});
