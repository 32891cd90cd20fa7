import { beforeEach, describe, expect, it } from 'vitest';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

let calls: TestCalls;
/** Rights that the policies deny. */
let denied: string[];
beforeEach(async () => {
  denied = [];
  calls = await testCalls({ authorize: ({ action, resource }) => !denied.includes(`${action} ${resource}`) });
  const headers = {
    'x-amz-meta-colour': 'blue & green',
    'x-amz-meta-mc-attrs': 'mode:33188',
    "x-amz-meta-it's": 'no name of an element',
    'content-type': 'text/x-a',
    'cache-control': 'no-cache',
    'x-amz-tagging': 'team=red&empty=',
  };
  await calls.call('PUT', '/bucket/described', { body: 'content', headers });
  await calls.call('PUT', '/bucket/plain', { body: 'content' });
});

const metadata =
  '<UserMetadata><content-type>text/x-a</content-type><cache-control>no-cache</cache-control>' +
  '<X-Amz-Meta-Colour>blue &amp; green</X-Amz-Meta-Colour><X-Amz-Meta-Mc-Attrs>mode:33188</X-Amz-Meta-Mc-Attrs></UserMetadata>';
const tags = '<UserTags>empty=&amp;team=red</UserTags>';
const plain = '<UserMetadata><content-type>binary/octet-stream</content-type></UserMetadata>';

async function listed(query: string): Promise<string[]> {
  const { status, body } = await calls.call('GET', `/bucket?${query}`);
  expect(status, body).toBe(200);
  return [...body.matchAll(/<\/StorageClass>(.*?)<\/(?:Contents|Version)>/g)].map(([, more = '']) => more);
}

describe.each([
  ['ListObjectsV2', 'list-type=2', 's3:GetObject', 's3:GetObjectTagging'],
  ['ListObjectVersions', 'versions', 's3:GetObjectVersion', 's3:GetObjectVersionTagging'],
])('%s with metadata=true', (_name, query, read, readTags) => {
  it('has the metadata and the tags of each object, as MinIO', async () => {
    expect(await listed(`${query}&metadata=true`)).toEqual([metadata + tags, plain]);
  });

  it('leaves out what the caller may not read', async () => {
    denied = [`${readTags} bucket/described`, `${read} bucket/plain`];
    expect(await listed(`${query}&metadata=true`)).toEqual([metadata, '']);
    denied = [`${read} bucket/described`];
    expect(await listed(`${query}&metadata=true`)).toEqual([tags, plain]);
  });

  it.each(['', '&metadata=false', '&metadata'])('is as in S3 with %j', async (more) => {
    expect(await listed(query + more)).toEqual(['', '']);
  });
});

describe('the metadata of versions', () => {
  it('is that of each version, and none of delete markers', async () => {
    await calls.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await calls.call('PUT', '/bucket/described', { body: 'new', headers: { 'x-amz-meta-colour': 'red' } });
    await calls.call('DELETE', '/bucket/plain');
    const { body } = await calls.call('GET', '/bucket?versions&metadata=true');
    expect([...body.matchAll(/<X-Amz-Meta-Colour>(\w+)/g)].map(([, colour]) => colour)).toEqual(['red', 'blue']);
    expect(/<DeleteMarker>.*?<\/DeleteMarker>/.exec(body)?.[0]).not.toContain('UserMetadata');
  });
});

describe('the scheme of encryption', () => {
  it.each([
    ['AES256', '<X-Amz-Server-Side-Encryption>AES256<'],
    ['aws:kms', '<X-Amz-Server-Side-Encryption>aws:kms<'],
  ])('%s is named', async (scheme, expected) => {
    await calls.call('PUT', '/bucket/plain', { body: 'x', headers: { 'x-amz-server-side-encryption': scheme } });
    expect((await listed('list-type=2&metadata=true'))[1]).toContain(expected);
  });
});

it('leaves out values that no document can have', async () => {
  await calls.call('PUT', '/bucket/plain', { headers: { 'x-amz-meta-odd': '=?UTF-8?B?AQ==?=', 'x-amz-meta-b': 'c' } });
  expect((await listed('list-type=2&metadata=true'))[1]).toContain('</content-type><X-Amz-Meta-B>c</X-Amz-Meta-B><');
});
