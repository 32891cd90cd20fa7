import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { parseAuthorization } from './parse-authorization.ts';
import { computeSignature } from './signature.ts';
import { SigningKeys } from './signing-key.ts';
import { canonicalHeaders, hashCanonicalRequest } from './canonical-request.ts';
import { type SignedRequest } from './signed-request.ts';
import { verifySignature, type Verification } from './verify-signature.ts';

// The examples of the S3 documentation, with their published signatures.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
const secretKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const verification: Verification = {
  now: new Date('2013-05-24T00:00:00Z'),
  region: 'us-east-1',
  services: ['s3'],
  signingKeys: new SigningKeys(),
};

function authorization(signedHeaders: string, signature: string): string {
  return `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signedHeaders},Signature=${signature}`;
}

const getObject: SignedRequest = {
  method: 'GET',
  rawPath: '/test.txt',
  rawQuery: '',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': emptySha256,
    'x-amz-date': '20130524T000000Z',
    authorization: authorization(
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ),
  },
};

const putObject: SignedRequest = {
  method: 'PUT',
  rawPath: '/test%24file.text',
  rawQuery: '',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-date': '20130524T000000Z',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    authorization: authorization(
      'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ),
  },
};

const getLifecycle: SignedRequest = {
  method: 'GET',
  rawPath: '/',
  rawQuery: 'lifecycle',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': emptySha256,
    authorization: authorization(
      'host;x-amz-content-sha256;x-amz-date',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ),
  },
};

const listObjects: SignedRequest = {
  method: 'GET',
  rawPath: '/',
  rawQuery: 'max-keys=2&prefix=J',
  headers: {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': emptySha256,
    authorization: authorization(
      'host;x-amz-content-sha256;x-amz-date',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ),
  },
};

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
const presignedGet: SignedRequest = {
  method: 'GET',
  rawPath: '/test.txt',
  rawQuery:
    'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
    '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
    '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  headers: { host: 'examplebucket.s3.amazonaws.com' },
};

function verify(request: SignedRequest, changed: Partial<Verification> = {}, secret = secretKey): void {
  const claim = parseAuthorization(request);
  if (claim === undefined || claim.kind === 'version-2') throw new Error('not signed by version 4');
  verifySignature(request, claim, secret, { ...verification, ...changed });
}

function refusal(action: () => unknown): S3Error {
  try {
    action();
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
  throw new Error('not refused');
}

describe('the examples of the S3 documentation', () => {
  it.each([
    ['GET of an object with a range', getObject],
    ['PUT of an object', putObject],
    ['GET of a lifecycle', getLifecycle],
    ['a listing', listObjects],
    ['a presigned GET', presignedGet],
  ])('accepts %s', (_, request) => {
    verify(request);
  });

  it.each([
    ['another method', { ...getObject, method: 'DELETE' }],
    ['another path', { ...getObject, rawPath: '/other.txt' }],
    ['another query', { ...getObject, rawQuery: 'acl' }],
    ['another header value', { ...getObject, headers: { ...getObject.headers, range: 'bytes=0-8' } }],
    [
      'another payload',
      { ...getObject, headers: { ...getObject.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    ],
    ['another query of a presigned URL', { ...presignedGet, rawQuery: `${presignedGet.rawQuery}&versionId=1` }],
  ])('refuses %s', (_, request) => {
    expect(refusal(() => verify(request)).code).toBe('SignatureDoesNotMatch');
  });

  it('refuses another secret key', () => {
    expect(refusal(() => verify(getObject, {}, 'another')).code).toBe('SignatureDoesNotMatch');
  });
});

describe('time', () => {
  it('accepts a skew of 15 minutes either way', () => {
    verify(getObject, { now: new Date('2013-05-24T00:15:00Z') });
    verify(getObject, { now: new Date('2013-05-23T23:45:00Z') });
  });

  it.each(['2013-05-24T00:15:01Z', '2013-05-23T23:44:59Z'])('refuses a header signature at %s', (now) => {
    expect(refusal(() => verify(getObject, { now: new Date(now) })).code).toBe('RequestTimeTooSkewed');
  });

  it('accepts a presigned URL to the last second', () => {
    verify(presignedGet, { now: new Date('2013-05-25T00:00:00Z') });
  });

  it('refuses an expired presigned URL', () => {
    const error = refusal(() => verify(presignedGet, { now: new Date('2013-05-25T00:00:01Z') }));
    expect([error.code, error.message]).toEqual(['AccessDenied', 'Request has expired']);
  });

  it('refuses a presigned URL from the future', () => {
    expect(refusal(() => verify(presignedGet, { now: new Date('2013-05-23T00:00:00Z') })).message).toMatch(
      /not valid before/,
    );
  });
});

describe('scope', () => {
  it('names both regions when the wrong one is signed', () => {
    const error = refusal(() => verify(getObject, { region: 'eu-west-1' }));
    expect(error.code).toBe('AuthorizationHeaderMalformed');
    expect(error.message).toContain("the region 'us-east-1' is wrong; expecting 'eu-west-1'");
    expect(error.details['Region']).toBe('eu-west-1');
  });

  it('takes any region where none is configured', () => {
    verify(getObject, { region: '' });
  });

  it('refuses another service', () => {
    expect(refusal(() => verify(getObject, { services: ['sts'] })).message).toContain("the service 's3' is wrong");
  });

  const emptyRegion: SignedRequest = {
    ...getObject,
    headers: {
      ...getObject.headers,
      authorization: String(getObject.headers['authorization']).replace('/us-east-1/', '//'),
    },
  };

  it('refuses an empty region', () => {
    expect(refusal(() => verify(emptyRegion)).message).toContain('the region is empty');
  });

  it('takes an empty region for admin requests, as far as its signature holds', () => {
    expect(refusal(() => verify(emptyRegion, { allowEmptyRegion: true })).code).toBe('SignatureDoesNotMatch');
  });
});

describe('signed headers', () => {
  it('refuses an x-amz header that is not signed, since it could change what the request does', () => {
    const headers = { ...presignedGet.headers, 'x-amz-copy-source': '/other/secret' };
    const error = refusal(() => verify({ ...presignedGet, headers }));
    expect(error.code).toBe('AccessDenied');
    expect(error.details['HeadersNotSigned']).toBe('x-amz-copy-source');
  });

  it('refuses a signature that does not cover the host', () => {
    const headers = {
      ...getObject.headers,
      authorization: authorization('x-amz-date', 'f'.repeat(64)),
    };
    expect(refusal(() => verify({ ...getObject, headers })).details['HeadersNotSigned']).toContain('host');
  });

  it('refuses a header signature without a payload hash', () => {
    const { 'x-amz-content-sha256': _, ...headers } = getLifecycle.headers;
    expect(refusal(() => verify({ ...getLifecycle, headers })).message).toContain('x-amz-content-sha256');
  });
});

describe('several values of one parameter', () => {
  const rawQuery = 'events=put&events=delete&a=1';
  const signedHeaders = ['host', 'x-amz-content-sha256', 'x-amz-date'];

  function signed(query: string): SignedRequest {
    const headers = { host: 'h', 'x-amz-content-sha256': emptySha256, 'x-amz-date': '20130524T000000Z' };
    const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
    const headerLines = canonicalHeaders(headers, signedHeaders);
    const parts = { method: 'GET', path: '/', query, headerLines, signedHeaders, payloadHash: emptySha256 };
    const key = verification.signingKeys.get(secretKey, scope);
    const signature = computeSignature(key, '20130524T000000Z', scope, hashCanonicalRequest(parts));
    return {
      method: 'GET',
      rawPath: '/',
      rawQuery,
      headers: { ...headers, authorization: authorization(signedHeaders.join(';'), signature) },
    };
  }

  it.each([
    ['sorted, as AWS asks', 'a=1&events=delete&events=put'],
    ['as they were sent, as clients in Go', 'a=1&events=put&events=delete'],
  ])('may be signed %s', (_how, query) => {
    expect(() => verify(signed(query))).not.toThrow();
  });

  it('may not differ', () => {
    expect(() => verify(signed('a=1&events=put'))).toThrow('does not match');
  });
});
