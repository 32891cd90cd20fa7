import { describe, expect, it } from 'vitest';
import { checksumAlgorithms } from '../../../protocol/s3/checksum-algorithms.ts';
import {
  claimsWithoutSecrets,
  headersWithoutSecrets,
  queryWithoutSecrets,
  rawQueryWithoutSecrets,
  redacted,
} from './without-secrets.ts';

describe('headers in the audit log', () => {
  it.each([
    'authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'x-amz-security-token',
    'x-amz-server-side-encryption-customer-key',
    'x-amz-server-side-encryption-customer-key-md5',
    'x-amz-copy-source-server-side-encryption-customer-key',
    'x-api-key',
    'x-auth-token',
    'x-vault-token',
    'x-goog-signature',
  ])('have no value of %s', (name) => {
    expect(Object.values(headersWithoutSecrets({ [name]: 'hidden-value' }))).toEqual([redacted]);
  });

  it('have any name', () => {
    const headers = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
    expect(Object.values(headersWithoutSecrets(headers))).toEqual(['a', 'b']);
  });

  it('have the names that MinIO writes, and one value each', () => {
    expect(
      headersWithoutSecrets({ 'x-amz-date': '20260101T000000Z', 'x-several': ['a', 'b'], 'content-length': 5 }),
    ).toEqual({
      'X-Amz-Date': '20260101T000000Z',
      'X-Several': 'a, b',
      'Content-Length': '5',
    });
  });

  it('have no parameters of addresses, which at a sign-in prove who asks', () => {
    expect(
      headersWithoutSecrets({ location: 'https://idp.example.org/auth?state=abc', referer: 'https://a/?x=1' }),
    ).toEqual({ Location: `https://idp.example.org/auth?${redacted}`, Referer: `https://a/?${redacted}` });
  });

  it('have no presigned address in any other header either', () => {
    const clean = headersWithoutSecrets({ 'x-forwarded-uri': '/b/k?X-Amz-Signature=0123456789abcdef&x=1' });
    expect(clean['X-Forwarded-Uri']).not.toContain('0123456789abcdef');
  });
});

describe('headers of an encrypted object in the audit log', () => {
  it.each([
    'etag',
    'if-match',
    'x-amz-copy-source-if-none-match',
    'x-amz-rename-source-if-match',
    'content-md5',
    'x-amz-content-sha256',
    'x-amz-checksum-crc64nvme',
    'x-amz-checksum-sha512',
    'x-amz-checksum-md5',
    'x-amz-checksum-xxhash64',
    'x-amz-checksum-xxhash128',
  ])('have no value of %s', (name) => {
    expect(Object.values(headersWithoutSecrets({ [name]: '0123' }, { digests: false }))).toEqual([redacted]);
  });

  it.each(['x-amz-checksum-type', 'x-amz-checksum-mode', 'x-amz-checksum-algorithm', 'x-amz-sdk-checksum-algorithm'])(
    'have the value of %s',
    (name) => {
      expect(Object.values(headersWithoutSecrets({ [name]: 'SHA256' }, { digests: false }))).toEqual(['SHA256']);
    },
  );
});

describe('the query in the audit log', () => {
  it.each([
    'X-Amz-Signature',
    'X-Amz-Security-Token',
    'Signature',
    'WebIdentityToken',
    'WebIdentityAccessToken',
    'Token',
    'LDAPPassword',
    'code',
    'state',
    'secretKey',
  ])('has no value of %s', (name) => {
    expect(queryWithoutSecrets(`x=1&${name}=hidden%2Fvalue`)).toEqual({ x: '1', [name]: redacted });
  });

  it('keeps what says who and what', () => {
    expect(
      queryWithoutSecrets('X-Amz-Credential=AKIA%2F20260101&prefix=a%20b&list-type=2&continuation-token=abc'),
    ).toEqual({
      'X-Amz-Credential': 'AKIA/20260101',
      prefix: 'a b',
      'list-type': '2',
      'continuation-token': 'abc',
    });
  });

  it('keeps all values of a name, but of a secret', () => {
    expect(queryWithoutSecrets('a=1&a=2&Token=x&Token=y')).toEqual({ a: '1,2', Token: redacted });
  });

  it('takes a query that cannot be decoded as it comes', () => {
    expect(queryWithoutSecrets('prefix=%E0%A4%A&delete')).toMatchObject({ delete: '' });
  });
});

describe('claims in the audit log', () => {
  it('have no tokens', () => {
    expect(claimsWithoutSecrets({ email: 'a@b.c', access_token: 'x', groups: ['g'] })).toEqual({
      email: 'a@b.c',
      access_token: redacted,
      groups: ['g'],
    });
  });
});

describe('digests of bodies', () => {
  const headers = {
    etag: '"81dc9bdb52d04dc20036dbd8313ed055"',
    'if-match': '"81dc9bdb52d04dc20036dbd8313ed055"',
    'content-md5': 'gdyb21LQTcIANtvYMT7QVQ==',
    'x-amz-checksum-sha256': 'A6xnQhbz4Vx2HuGl4lXwZ5U2I8iziLRFnhP5eNfIRvQ=',
    'x-amz-content-sha256': '03ac674216f3e15c761ee1a5e255f067953623c8b388b4459e13f978d7c846f4',
  };

  it('are shown, or taken out where what they are of is encrypted', () => {
    expect(Object.values(headersWithoutSecrets(headers))).toEqual(Object.values(headers));
    const hidden = headersWithoutSecrets(headers, { digests: false });
    expect(new Set(Object.values(hidden))).toEqual(new Set([redacted]));
    const query = queryWithoutSecrets('X-Amz-Checksum-Crc32=NSRBwg%3D%3D&prefix=a', { digests: false });
    expect(query).toEqual({ 'X-Amz-Checksum-Crc32': redacted, prefix: 'a' });
  });

  it.each([
    ...checksumAlgorithms.map((algorithm) => `x-amz-checksum-${algorithm.toLowerCase()}`),
    'x-amz-copy-source-if-match',
    'x-amz-copy-source-if-none-match',
    'x-amz-rename-source-if-match',
    'x-amz-rename-source-if-none-match',
    'x-minio-source-etag',
  ])('are taken out of %s', (name) => {
    expect(Object.values(headersWithoutSecrets({ [name]: 'gdyb21LQTcIANtvYMT7QVQ==' }, { digests: false }))).toEqual([
      redacted,
    ]);
  });

  it('never hide what is none', () => {
    const none = {
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-checksum-algorithm': 'CRC32',
      'x-amz-checksum-type': 'COMPOSITE',
    };
    expect(Object.values(headersWithoutSecrets(none, { digests: false }))).toEqual(Object.values(none));
  });
});

describe('a query as it was sent', () => {
  it.each([
    ['', ''],
    ['list-type=2&prefix=a%20b&continuation-token=abc', 'list-type=2&prefix=a%20b&continuation-token=abc'],
    ['uploads', 'uploads'],
    ['X-Amz-Signature=ab&versionId=v', 'X-Amz-Signature=-&versionId=v'],
    ['X-Amz-%53ignature=ab&%58-amz-security-token=c', 'X-Amz-%53ignature=-&%58-amz-security-token=-'],
    ['AWSAccessKeyId=AK&Signature=ab', 'AWSAccessKeyId=AK&Signature=-'],
    [
      'x-amz-checksum-sha256=A6xnQh&x-amz-checksum-algorithm=SHA256',
      'x-amz-checksum-sha256=-&x-amz-checksum-algorithm=SHA256',
    ],
    ['Content-MD5=gdyb21&x=1', 'Content-MD5=-&x=1'],
    ['ETag=gdyb21', 'ETag=-'],
    ['x=1&if-none-match=gdyb21', 'x=1&if-none-match=-'],
    ['x-amz-copy-source-if-match=gdyb21', 'x-amz-copy-source-if-match=-'],
    ['If-Range=gdyb21', 'If-Range=-'],
    ['x-minio-source-etag=gdyb21', 'x-minio-source-etag=-'],
    ['code=ab&state=cd&encoding-type=url', 'code=-&state=-&encoding-type=url'],
    ['X-Amz-Content-Sha256=UNSIGNED-PAYLOAD', 'X-Amz-Content-Sha256=UNSIGNED-PAYLOAD'],
    ['X-Amz-Content-Sha256=03ac67', 'X-Amz-Content-Sha256=-'],
    ['a=%E0%A4%A&token', 'a=%E0%A4%A&token'],
  ])('%j is written as %j', (query, written) => {
    expect(rawQueryWithoutSecrets(query, '-')).toBe(written);
  });
});

describe('a query in the audit log', () => {
  it('has parameters of any name, with all values of a repeated one', () => {
    expect(Object.entries(queryWithoutSecrets('constructor=a&__proto__=b&x=1&x=2&__proto__=c'))).toEqual([
      ['constructor', 'a'],
      ['__proto__', 'b,c'],
      ['x', '1,2'],
    ]);
  });
});
