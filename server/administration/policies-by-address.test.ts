import { describe, expect, it } from 'vitest';
import { parseCors } from '../../protocol/s3/bucket-cors.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';
import { warningOfPoliciesByAddress } from './policies-by-address.ts';

const policyOf = (bucket: string, more: object) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*`, ...more },
    ],
  });
const byAddress = { Condition: { IpAddress: { 'aws:sourceip': '10.0.0.0/8' } } };
const cors = parseCors(
  '<CORSConfiguration><CORSRule><AllowedOrigin>https://a</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>',
);

async function stage() {
  const { layer } = testLayer();
  for (const name of ['open', 'signed', 'public', 'with-cors']) await layer.createBucket(name, { location: '' });
  await layer.putBucketPolicy('open', policyOf('open', byAddress));
  await layer.putBucketPolicy(
    'signed',
    policyOf('signed', { ...byAddress, Principal: { AWS: ['arn:aws:iam:::user/ann'] } }),
  );
  await layer.putBucketPolicy('public', policyOf('public', {}));
  await layer.putBucketPolicy('with-cors', policyOf('with-cors', byAddress));
  await layer.putBucketCors('with-cors', cors);
  return layer;
}
const names = ['open', 'signed', 'public', 'with-cors'];
const given = (value: string) => new Map([['SVC_API_CORS_ALLOW_ORIGIN', { variable: 'X', value }]]);

describe('a bucket that its policy opens to an address', () => {
  it('is named where pages of any origin may read it', async () => {
    const buckets = await stage();
    const warning = await warningOfPoliciesByAddress(names, { buckets });
    expect(warning).toContain('"open" let callers in by aws:SourceIp');
    expect(warning).not.toMatch(/signed|"public"|with-cors/);
    expect(await warningOfPoliciesByAddress(names, { buckets, given: given('https://a, *') })).toBe(warning);
  });

  it('is not named where the origins are', async () => {
    const buckets = await stage();
    for (const origins of ['none', 'https://a', 'https://*.example.com']) {
      expect(await warningOfPoliciesByAddress(names, { buckets, given: given(origins) })).toBeUndefined();
    }
  });
});
