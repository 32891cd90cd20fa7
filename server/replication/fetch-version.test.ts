import { describe, expect, it } from 'vitest';
import { noKeySource } from '../encryption/key-source.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';
import { fetchVersion } from './fetch-version.ts';
import type { OpenAnswer } from './target-client.ts';

/** Another server, whose one object has these headers. */
function source(headers: Readonly<Record<string, string>>) {
  const answer: OpenAnswer = {
    status: 200,
    headers: { 'content-length': '6', ...headers },
    chunks: (async function* () {
      yield Promise.resolve(Buffer.from('secret'));
    })(),
    whole: () => Promise.reject(new Error('the answer is no error')),
    discard: () => Promise.resolve(),
  };
  return { open: () => Promise.resolve(answer), send: () => Promise.reject(new Error('nothing else is asked')) };
}

const version = {
  key: 'key',
  targetKey: 'key',
  versionId: 'null',
  isLatest: true,
  deleteMarker: false,
  size: 6,
  modified: Date.parse('2026-01-01T00:00:00Z'),
  etag: 'e',
};

async function fetched(headers: Readonly<Record<string, string>>, options: Parameters<typeof testLayer>[0] = {}) {
  const { layer } = testLayer(options);
  await layer.createBucket('bucket', { location: '' });
  await fetchVersion({ objects: layer, client: source(headers), bucket: 'bucket' }, version);
  return (await layer.headObject('bucket', 'key')).encryption;
}

describe('a version that is fetched', () => {
  it('is encrypted as at its source, under the default key of this server', async () => {
    expect(await fetched({ 'x-amz-server-side-encryption': 'AES256' })).toEqual({ scheme: 'SSE-S3' });
    const kms = {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:another',
    };
    expect(await fetched(kms)).toMatchObject({ scheme: 'SSE-KMS', keyName: 'default-key' });
    expect(await fetched({ 'x-amz-server-side-encryption': 'aws:kms:dsse' })).toMatchObject({ scheme: 'SSE-KMS' });
  });

  it('has the default of the bucket, if there is one', async () => {
    const { layer } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'default-key', bucketKey: true });
    const client = source({ 'x-amz-server-side-encryption': 'AES256' });
    await fetchVersion({ objects: layer, client, bucket: 'bucket' }, version);
    expect((await layer.headObject('bucket', 'key')).encryption).toMatchObject({ scheme: 'SSE-KMS', bucketKey: true });
  });

  it('keeps a key of the key service, with its context, also where the default of the bucket has none', async () => {
    const { layer } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-S3' });
    const client = source({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-context': Buffer.from('{"case":"one"}').toString('base64'),
    });
    await fetchVersion({ objects: layer, client, bucket: 'bucket' }, version);
    expect((await layer.headObject('bucket', 'key')).encryption).toMatchObject({
      scheme: 'SSE-KMS',
      context: { case: 'one' },
    });
  });

  it('has no lock whose retention has ended, which a new version cannot have', async () => {
    const { layer } = testLayer();
    await layer.createBucket('bucket', { location: '', objectLock: true });
    const client = source({
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': '2020-01-01T00:00:00Z',
    });
    await fetchVersion({ objects: layer, client, bucket: 'bucket' }, version);
    expect((await layer.headObject('bucket', 'key')).lock).toBeUndefined();
  });

  it('is plain where it was', async () => {
    expect(await fetched({})).toBeUndefined();
  });

  it('does not become plain on a server without keys', async () => {
    const fetch = fetched({ 'x-amz-server-side-encryption': 'AES256' }, { keys: noKeySource });
    await expect(fetch).rejects.toMatchObject({ code: 'NotImplemented' });
  });
});
