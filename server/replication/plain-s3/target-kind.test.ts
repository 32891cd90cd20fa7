import { describe, expect, it } from 'vitest';
import { checkRuleOf, kindOfTarget, regionOfBucket } from './target-kind.ts';

const answerOf = (status: number, headers: Record<string, string>, text = '') => ({ status, headers, text });
const clientOf = (...given: Parameters<typeof answerOf>) => ({ send: () => Promise.resolve(answerOf(...given)) });

describe('the kind of a target', () => {
  it('is that of MinIO where the error of a HEAD is named in its header', async () => {
    expect(await kindOfTarget(clientOf(404, { 'x-minio-error-code': 'NoSuchKey' }))).toEqual({});
  });

  it.each([404, 403])('is a plain S3 where the answer %s has no such header', async (status) => {
    expect(await kindOfTarget(clientOf(status, { 'x-amz-request-id': '1', server: 'AmazonS3' }))).toEqual({
      kind: 's3',
    });
  });

  it.each([200, 302, 403, 404, 429, 502])('is not told by the answer %i of a proxy', async (status) => {
    const client = clientOf(status, { 'content-type': 'text/html', server: 'nginx' });
    await expect(kindOfTarget(client)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the region of a target', () => {
  const refusal = '<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>';

  it.each([
    ['', answerOf(400, {}, refusal), 'eu-west-1'],
    ['', answerOf(301, { 'x-amz-bucket-region': 'eu-north-1' }), 'eu-north-1'],
    ['us-west-2', answerOf(400, {}, refusal), undefined],
    ['', answerOf(200, {}, '<VersioningConfiguration/>'), undefined],
    ['', answerOf(301, { 'x-amz-bucket-region': 'a b' }), undefined],
  ])('given %j is learned from the answer', (region, answer, found) => {
    expect(regionOfBucket({ region }, answer)).toBe(found);
  });
});

describe('a rule', () => {
  const place = { endpoint: 'host', targetBucket: 'bucket' };
  const rule = { id: 'r', deletes: false };

  it('cannot replicate removals of versions to a plain S3', () => {
    expect(() => checkRuleOf({ ...rule, deletes: true }, { ...place, kind: 's3' })).toThrow(
      expect.objectContaining({ code: 'InvalidRequest' }) as Error,
    );
  });

  it('can name any storage class of AWS there, and two for a MinIO', () => {
    const cold = { ...rule, storageClass: 'GLACIER_IR' };
    expect(() => checkRuleOf(cold, { ...place, kind: 's3' })).not.toThrow();
    expect(() => checkRuleOf({ ...rule, storageClass: 'REDUCED_REDUNDANCY' }, place)).not.toThrow();
    expect(() => checkRuleOf(cold, place)).toThrow(expect.objectContaining({ code: 'NotImplemented' }) as Error);
  });
});
