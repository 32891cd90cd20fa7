import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessRequest } from '../../auth/principal.ts';
import { put } from '../../../test/support/objects/test-layer.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

let test: TestCalls;
let allows: (request: AccessRequest) => boolean;
beforeEach(async () => {
  allows = () => true;
  test = await testCalls({ authorize: (request) => allows(request) });
});

const configuration = (content: string) => ({
  body: `<VersioningConfiguration>${content}</VersioningConfiguration>`,
});
const enabled = configuration('<Status>Enabled</Status>');
const suspended = configuration('<Status>Suspended</Status>');
const write = async (key: string, text = key) =>
  (await test.layer.putObject(put('bucket', key, text))).versionId ?? 'null';

describe('the versioning of a bucket', () => {
  it('is nothing, Enabled or Suspended', async () => {
    expect((await test.call('GET', '/bucket?versioning')).body).toMatch(/<VersioningConfiguration [^>]*\/>$/);
    for (const [document, status] of [
      [enabled, 'Enabled'],
      [suspended, 'Suspended'],
    ] as const) {
      expect(await test.call('PUT', '/bucket?versioning', document)).toMatchObject({ status: 200, body: '' });
      expect((await test.call('GET', '/bucket?versioning')).body).toContain(`><Status>${status}</Status></`);
    }
  });

  it('may exclude prefixes and folders, whose objects then have one version', async () => {
    const document = configuration(
      '<Status>Enabled</Status><ExcludedPrefixes><Prefix>tmp/</Prefix></ExcludedPrefixes><ExcludeFolders>true</ExcludeFolders>',
    );
    await test.call('PUT', '/bucket?versioning', document);
    const { body } = await test.call('GET', '/bucket?versioning');
    expect(body).toContain('<ExcludedPrefixes><Prefix>tmp/</Prefix></ExcludedPrefixes>');
    expect(body).toContain('<ExcludeFolders>true</ExcludeFolders>');
    expect([await write('tmp/a'), await write('folder/')]).toEqual(['null', 'null']);
    expect(await write('other')).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each([
    ['GET', '/absent?versioning', {}, 404, 'NoSuchBucket'],
    ['PUT', '/absent?versioning', enabled, 404, 'NoSuchBucket'],
    ['PUT', '/bucket?versioning', {}, 400, 'MissingRequestBodyError'],
    ['PUT', '/bucket?versioning', configuration(''), 400, 'IllegalVersioningConfigurationException'],
    ['PUT', '/bucket?versioning', configuration('<Status>On</Status>'), 400, 'MalformedXML'],
    ['PUT', '/bucket?versioning', { body: ' '.repeat(65_537) }, 400, 'MalformedXML'],
    ['PUT', '/bucket?versioning', { ...enabled, headers: { 'x-amz-mfa': 'serial 123456' } }, 501, 'NotImplemented'],
    [
      'PUT',
      '/bucket?versioning',
      { ...enabled, headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } },
      400,
      'BadDigest',
    ],
    ['PUT', '/locked?versioning', suspended, 409, 'InvalidBucketState'],
    ['DELETE', '/bucket?versioning', {}, 405, 'MethodNotAllowed'],
    ['PUT', '/bucket/key?versioning', enabled, 400, 'InvalidRequest'],
  ] as const)('%s %s is refused', async (method, target, more, status, code) => {
    await test.layer.createBucket('locked', { location: '', objectLock: true });
    expect(await test.call(method, target, more)).toMatchObject({ status, code });
    expect(await test.layer.getBucketVersioning('bucket')).toBeUndefined();
  });

  it.each([
    ['GET', 's3:GetBucketVersioning'],
    ['PUT', 's3:PutBucketVersioning'],
  ])('%s needs %s before its body is read', async (method, action) => {
    allows = (request) => request.action !== action;
    const reply = await test.call(method, '/bucket?versioning', method === 'PUT' ? enabled : {});
    expect(reply).toMatchObject({ status: 403, code: 'AccessDenied', bytesRead: 0 });
  });
});

describe('CreateBucket with object lock', () => {
  const headers = { 'x-amz-bucket-object-lock-enabled': 'true' };

  it('enables versions and locks', async () => {
    expect(await test.call('PUT', '/locked', { headers })).toMatchObject({ status: 200 });
    expect(await test.layer.getBucketVersioning('locked')).toEqual({ status: 'Enabled' });
    expect(await test.layer.getObjectLockConfiguration('locked')).toEqual({});
    await test.call('PUT', '/plain', { headers: { 'x-amz-bucket-object-lock-enabled': 'False' } });
    expect(await test.layer.getBucketVersioning('plain')).toBeUndefined();
  });

  it.each(['s3:CreateBucket', 's3:PutBucketObjectLockConfiguration', 's3:PutBucketVersioning'])(
    'needs %s',
    async (action) => {
      allows = (request) => request.action !== action;
      expect(await test.call('PUT', '/locked', { headers })).toMatchObject({ code: 'AccessDenied' });
      await expect(test.layer.headBucket('locked')).rejects.toMatchObject({ code: 'NoSuchBucket' });
    },
  );

  it('refuses another value', async () => {
    const other = { 'x-amz-bucket-object-lock-enabled': 'yes' };
    expect(await test.call('PUT', '/locked', { headers: other })).toMatchObject({ code: 'InvalidArgument' });
  });
});

/** The entries of a page as `KEY VERSION`, with `*` for the current version and `-` for a marker, and the common prefixes. */
async function list(query = '') {
  const { body } = await test.call('GET', `/bucket?versions${query}`);
  const entries = [
    ...body.matchAll(
      /<(Version|DeleteMarker)><Key>(.*?)<\/Key><VersionId>(.*?)<\/VersionId><IsLatest>(.*?)<\/IsLatest>/g,
    ),
  ].map(([, kind, key, id, latest]) => `${key} ${id}${latest === 'true' ? '*' : ''}${kind === 'Version' ? '' : '-'}`);
  const prefixes = [...body.matchAll(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/g)].map(([, prefix]) => prefix);
  const text = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(body)?.[1];
  return { body, entries, prefixes, text };
}

describe('ListObjectVersions', () => {
  it('lists versions and markers in one order, with what describes them', async () => {
    await write('b');
    await test.call('PUT', '/bucket?versioning', enabled);
    const first = await write('a', 'one');
    const { versionId: marker } = await test.layer.deleteObject('bucket', 'a');
    const second = await write('b');
    const { body, entries } = await list();
    expect(entries).toEqual([`a ${marker}*-`, `a ${first}`, `b ${second}*`, 'b null']);
    expect(body).toMatch(/<DeleteMarker><Key>a<\/Key>.*?<LastModified>[^<]+<\/LastModified><Owner><ID>/);
    expect(body).toMatch(/<ETag>&quot;[0-9a-f]{32}&quot;<\/ETag>/);
    expect(body).toContain('<Size>3</Size><Owner><ID>');
    expect(body).toContain('<StorageClass>STANDARD</StorageClass></Version>');
    expect(body).toContain('<KeyMarker/><VersionIdMarker/><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>');
  });

  it('names the checksum of a version', async () => {
    await test.call('PUT', '/bucket/key', { body: 'a', headers: { 'x-amz-checksum-crc32': '6Le+Qw==' } });
    const { body } = await list();
    expect(body).toContain('<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType>');
  });

  it('lists each object of a bucket without versions as null', async () => {
    await write('a');
    expect((await list()).entries).toEqual(['a null*']);
  });

  it('pages by key and version, with common prefixes', async () => {
    await test.call('PUT', '/bucket?versioning', enabled);
    for (const key of ['a', 'a', 'folder/x', 'folder/y', 'z', 'z', 'z']) await write(key);
    const whole = await list('&delimiter=/');
    const seen: (string | undefined)[] = [];
    let query = '';
    for (let page = 0; page < 20; page += 1) {
      const { entries, prefixes, text } = await list(`&delimiter=/&max-keys=1${query}`);
      seen.push(...entries, ...prefixes);
      if (text('IsTruncated') === 'false') break;
      const versionId = text('NextVersionIdMarker');
      query = `&key-marker=${text('NextKeyMarker')}${versionId === undefined ? '' : `&version-id-marker=${versionId}`}`;
    }
    expect(seen).toEqual([...whole.entries.slice(0, 2), 'folder/', ...whole.entries.slice(2)]);
  });

  it('encodes keys for encoding-type=url', async () => {
    await write('a b&');
    const { entries, body } = await list('&encoding-type=url&prefix=a%20b&key-marker=a%20');
    expect(entries).toEqual(['a+b%26 null*']);
    expect(body).toContain('<Prefix>a+b</Prefix><KeyMarker>a+</KeyMarker>');
    expect(body).toContain('<EncodingType>url</EncodingType>');
  });

  it('begins with the first key for two empty markers', async () => {
    await write('a');
    expect((await list('&key-marker=&version-id-marker=')).entries).toEqual(['a null*']);
  });

  it('lists nothing, and ends, for max-keys=0', async () => {
    await write('a');
    const { entries, text } = await list('&max-keys=0');
    expect([entries, text('IsTruncated')]).toEqual([[], 'false']);
  });

  it.each([
    ['&version-id-marker=null', 'A version-id marker cannot be specified without a key marker.'],
    ['&version-id-marker=', 'A version-id marker cannot be specified without a key marker.'],
    ['&key-marker=&version-id-marker=null', 'A version-id marker cannot be specified without a key marker.'],
    ['&key-marker=a&version-id-marker=', 'A version-id marker cannot be empty.'],
    ['&key-marker=a&version-id-marker=none', 'Invalid version id specified'],
    ['&prefix=b&key-marker=a&version-id-marker=none', 'Invalid version id specified'],
    ['&max-keys=-1', 'Argument max-keys must be an integer between 0 and 2147483647'],
    ['&max-keys=many', 'Argument max-keys must be an integer between 0 and 2147483647'],
    ['&encoding-type=xml', 'Invalid Encoding Method specified in Request.'],
  ])('refuses %s', async (query, message) => {
    const reply = await test.call('GET', `/bucket?versions${query}`);
    expect(reply).toMatchObject({ status: 400, code: 'InvalidArgument', body: message });
  });

  it('needs s3:ListBucketVersions', async () => {
    allows = ({ action }) => action !== 's3:ListBucketVersions';
    expect(await test.call('GET', '/bucket?versions')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await test.call('GET', '/bucket')).toMatchObject({ status: 200 });
  });
});
