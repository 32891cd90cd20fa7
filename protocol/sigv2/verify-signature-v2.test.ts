import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import type { SignedRequest } from '../sigv4/signed-request.ts';
import { parseAuthorizationV2 } from './parse-authorization-v2.ts';
import { verifySignatureV2 } from './verify-signature-v2.ts';

// The examples of https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
const accessKey = 'AKIAIOSFODNN7EXAMPLE';
const secretKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

interface Given {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Record<string, string>;
  readonly bucket?: string;
  readonly now?: Date;
}

function verify({ method = 'GET', target, headers = {}, bucket, now = new Date() }: Given): void {
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const request: SignedRequest = { method, rawPath, rawQuery, headers };
  verifySignatureV2(request, parseAuthorizationV2(request), secretKey, { now, bucket });
}

function refusal(given: Given): S3Error {
  try {
    verify(given);
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
  throw new Error('the signature was accepted');
}

const hmac = (text: string, key = secretKey) => createHmac('sha1', key).update(text, 'utf8').digest('base64');

/** A URL that ends in an hour; `text` is what follows the time in the text that is signed. */
function presigned(target: string, text: string, { method = 'GET', md5 = '', type = '', more = '' } = {}): Given {
  const expires = String(Math.floor(Date.now() / 1_000) + 3_600);
  const signature = encodeURIComponent(hmac(`${method}\n${md5}\n${type}\n${expires}\n${text}`));
  const query = `AWSAccessKeyId=${accessKey}&Expires=${expires}&Signature=${signature}${more}`;
  return { method, target: `${target}${target.includes('?') ? '&' : '?'}${query}` };
}

describe('the examples of AWS', () => {
  it.each<[string, string, string, string, Record<string, string>, string, string | undefined]>([
    [
      'an object',
      'GET',
      '/photos/puppy.jpg',
      'Tue, 27 Mar 2007 19:36:42 +0000',
      {},
      'bWq2s1WEIj+Ydj0vQ697zp+IXMU=',
      'johnsmith',
    ],
    [
      'an upload',
      'PUT',
      '/photos/puppy.jpg',
      'Tue, 27 Mar 2007 21:15:45 +0000',
      { 'content-type': 'image/jpeg', 'content-length': '94328' },
      'MyyxeRY7whkBe+bq8fHCL/2kKUg=',
      'johnsmith',
    ],
    [
      'a listing',
      'GET',
      '/?prefix=photos&max-keys=50&marker=puppy',
      'Tue, 27 Mar 2007 19:42:41 +0000',
      {},
      'htDYFYduRNen8P9ZfE/s9SuKy0U=',
      'johnsmith',
    ],
    [
      'a subresource',
      'GET',
      '/?acl',
      'Tue, 27 Mar 2007 19:44:46 +0000',
      {},
      'c2WLPFtWHVgbEmeEG93a4cG37dM=',
      'johnsmith',
    ],
    [
      'metadata',
      'PUT',
      '/db-backup.dat.gz',
      'Tue, 27 Mar 2007 21:06:08 +0000',
      {
        'x-amz-acl': 'public-read',
        'content-type': 'application/x-download',
        'content-md5': '4gJE4saaMU4BqNR0kLY+lw==',
        'x-amz-meta-reviewedby': 'joe@johnsmith.net, jane@johnsmith.net',
        'x-amz-meta-filechecksum': '0x02661779',
        'x-amz-meta-checksumalgorithm': 'crc32',
        'content-encoding': 'gzip',
      },
      'ilyl83RwaSoYIEdixDQcA4OnAnc=',
      'static.johnsmith.net',
    ],
    ['all buckets', 'GET', '/', 'Wed, 28 Mar 2007 01:29:59 +0000', {}, 'qGdzdERIC03wnaRNKh6OqZehG9s=', undefined],
    [
      'a key that is not ASCII',
      'GET',
      '/dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re',
      'Wed, 28 Mar 2007 01:49:49 +0000',
      {},
      'DNEZGsoieTZ92F3bUfSPQcbGmlM=',
      undefined,
    ],
  ])('sign %s', (_what, method, target, time, headers, signature, bucket) => {
    const authorization = `AWS ${accessKey}:${signature}`;
    const now = new Date(time);
    const given = {
      method,
      target,
      headers: { ...headers, date: time, authorization },
      now,
      ...(bucket !== undefined && { bucket }),
    };
    expect(() => verify(given)).not.toThrow();
    expect(refusal({ ...given, method: 'POST' }).code).toBe('SignatureDoesNotMatch');
  });

  it('sign a URL', () => {
    const target = `/photos/puppy.jpg?AWSAccessKeyId=${accessKey}&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620`;
    expect(() => verify({ target, bucket: 'johnsmith', now: new Date(1_175_139_619_000) })).not.toThrow();
    // A `+` that the client did not encode.
    expect(() =>
      verify({ target: target.replace('%2B', '+'), bucket: 'johnsmith', now: new Date(1_175_139_619_000) }),
    ).not.toThrow();
    expect(refusal({ target, bucket: 'johnsmith', now: new Date(1_175_139_621_000) })).toMatchObject({
      code: 'AccessDenied',
      message: 'Request has expired',
      details: { Expires: '2007-03-29T03:40:20.000Z' },
    });
  });
});

describe('a presigned URL', () => {
  it.each([
    ['a path', '/b/k', '/b/k'],
    ['the slash that boto signs after a bucket', '/b', '/b/'],
    ['subresources in order', '/b/k?versionId=1&acl', '/b/k?acl&versionId=1'],
    ['a subresource with and without =', '/b/k?uploads=', '/b/k?uploads'],
    [
      'decoded values of overrides',
      '/b/k?response-content-type=text%2Fplain%3B%20a',
      '/b/k?response-content-type=text/plain; a',
    ],
    ['a space that is sent as +', '/b/k?response-content-type=a+b', '/b/k?response-content-type=a b'],
    ['a token', '/b/k?x-amz-security-token=a%2Bb', 'x-amz-security-token:a+b\n/b/k'],
    ['a path that AWS encodes otherwise', '/b/a(1)', '/b/a%281%29'],
    ['parameters that are not signed', '/b?list-type=2&prefix=a', '/b'],
  ])('covers %s', (_what, target, text) => {
    expect(() => verify(presigned(target, text))).not.toThrow();
  });

  it('covers headers that it carries', () => {
    const carried = '&content-type=text%2Fplain&content-md5=abc&x-amz-meta-a=b';
    const given = presigned('/b/k', 'x-amz-meta-a:b\n/b/k', {
      method: 'PUT',
      type: 'text/plain',
      md5: 'abc',
      more: carried,
    });
    expect(() => verify(given)).not.toThrow();
    expect(() => verify({ ...given, headers: { 'content-type': 'text/plain' } })).not.toThrow();
    expect(refusal({ ...given, headers: { 'content-type': 'text/html' } }).code).toBe('InvalidRequest');
  });

  it.each([
    ['another key', (target: string) => target.replace('/b/k', '/b/x')],
    ['a parameter more', (target: string) => `${target}&acl`],
    ['an operation more, escaped', (target: string) => `${target}&%74agging`],
    ['a version more', (target: string) => `${target}&versionId=1`],
    ['a header in the query', (target: string) => `${target}&x-amz-copy-source=/b/secret`],
    ['another end', (target: string) => target.replace(/Expires=\d+/, 'Expires=9999999999')],
    ['a shorter signature', (target: string) => target.replace(/%3D$/, '')],
  ])('is not for %s', (_what, change) => {
    const given = presigned('/b/k', '/b/k');
    expect(refusal({ ...given, target: change(given.target) }).code).toBe('SignatureDoesNotMatch');
  });

  it('is not for another method, header, bucket or secret', () => {
    const given = presigned('/k', '/b/k');
    expect(() => verify({ ...given, bucket: 'b' })).not.toThrow();
    expect(refusal({ ...given, bucket: 'c' }).code).toBe('SignatureDoesNotMatch');
    expect(refusal(given).code).toBe('SignatureDoesNotMatch');
    expect(refusal({ ...given, bucket: 'b', method: 'HEAD' }).code).toBe('SignatureDoesNotMatch');
    expect(refusal({ ...given, bucket: 'b', headers: { 'x-amz-acl': 'private' } }).code).toBe('SignatureDoesNotMatch');
    expect(refusal({ ...given, bucket: 'b', headers: { 'content-type': 'a/b' } }).code).toBe('SignatureDoesNotMatch');
    expect(refusal({ ...given, bucket: 'b', headers: { 'x-minio-force-delete': 'true' } }).code).toBe('AccessDenied');
  });

  // It would cover the ARN and not the keys of the tags that a caller removes.
  it('is not for S3 Control, whose parameters it does not cover', () => {
    const headers = { 'x-amz-account-id': '000000000000' };
    const given = presigned('/v20180820/tags/arn', 'x-amz-account-id:000000000000\n/v20180820/tags/arn', {
      method: 'DELETE',
      more: '&tagKeys=a',
    });
    expect(refusal({ ...given, headers }).code).toBe('InvalidRequest');
  });

  it('is told what it should have signed', () => {
    const { code, details } = refusal({ ...presigned('/b/k', '/b/other'), headers: { 'x-amz-meta-a': 'b ' } });
    expect(code).toBe('SignatureDoesNotMatch');
    expect(details['StringToSign']).toMatch(/^GET\n\n\n\d+\nx-amz-meta-a:b\n\/b\/k$/);
    expect(details['StringToSignBytes']).toMatch(/^47 45 54 0a 0a 0a( [0-9a-f]{2})+ 6b$/);
    expect(details['AWSAccessKeyId']).toBe(accessKey);
    expect(JSON.stringify(details)).not.toContain(secretKey);
  });

  it.each([
    [`AWSAccessKeyId=${accessKey}&Expires=1`, 'AccessDenied', /requires the Signature, Expires and AWSAccessKeyId/],
    ['Signature=x&Expires=1', 'AccessDenied', /requires the Signature, Expires and AWSAccessKeyId/],
    [`AWSAccessKeyId=${accessKey}&Signature=x`, 'AccessDenied', /requires the Signature/],
    [`AWSAccessKeyId=${accessKey}&Signature=x&Expires=soon`, 'AccessDenied', /Invalid date .*: soon/],
    [`AWSAccessKeyId=${accessKey}&Signature=x&Expires=-1`, 'AccessDenied', /Invalid date/],
    [`AWSAccessKeyId=${accessKey}&Signature=x&Expires=1`, 'AccessDenied', /^Request has expired$/],
    [`AWSAccessKeyId=${accessKey}&Signature=x&Signature=y&Expires=1`, 'InvalidArgument', /Signature is given more/],
    [`AWSAccessKeyId=${accessKey}&Signature=x&Expires=1&x-amz-a=1&X-Amz-A=2`, 'InvalidArgument', /more than once/],
  ])('is refused as %s', (query, code, message) => {
    const error = refusal({ target: `/b/k?${query}` });
    expect([error.code, error.status]).toEqual([code, code === 'AccessDenied' ? 403 : 400]);
    expect(error.message).toMatch(message);
  });
});

describe('a header', () => {
  const now = new Date('Tue, 27 Mar 2007 21:20:26 +0000');
  const signed = (text: string, headers: Record<string, string>) => ({
    target: '/b/k',
    now,
    headers: { ...headers, authorization: `AWS ${accessKey}:${hmac(text)}` },
  });

  it('has the date of x-amz-date, if there is one', () => {
    const amz = { 'x-amz-date': now.toUTCString(), date: 'whatever' };
    expect(() => verify(signed(`GET\n\n\n\nx-amz-date:${now.toUTCString()}\n/b/k`, amz))).not.toThrow();
  });

  it('is refused 15 minutes from its date, and without one', () => {
    const late = new Date(now.getTime() - 16 * 60_000).toUTCString();
    expect(refusal(signed(`GET\n\n\n${late}\n/b/k`, { date: late })).code).toBe('RequestTimeTooSkewed');
    const dates: Record<string, string>[] = [
      {},
      { date: 'yesterday' },
      { 'x-amz-date': 'now', date: now.toUTCString() },
    ];
    for (const headers of dates) {
      expect(refusal(signed('', headers))).toMatchObject({
        code: 'AccessDenied',
        message: 'AWS authentication requires a valid Date or x-amz-date header',
      });
    }
  });

  it.each(['AWS', 'AWS ', 'AWS user', 'AWS :x', 'AWS user:', 'AWS user:a b'])('is refused as %j', (text) => {
    expect(refusal({ target: '/b/k', headers: { authorization: text, date: now.toUTCString() }, now })).toMatchObject({
      code: 'InvalidArgument',
      message: 'AWS authorization header is invalid.  Expected AwsAccessKeyId:signature',
    });
  });
});

it('ends in an answer for any query and header, and accepts none that was not signed', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\w&=%+?/.:-]{0,60}$/));
  fc.assert(
    fc.property(text, text, text, (query, header, path) => {
      const rawQuery = `AWSAccessKeyId=${accessKey}&Expires=9999999999&Signature=AAAA&${query}`;
      const request = { method: 'GET', rawPath: `/${path}`, rawQuery, headers: { 'x-amz-a': header } };
      try {
        verifySignatureV2(request, parseAuthorizationV2(request), secretKey, { now: new Date() });
        return false;
      } catch (error) {
        return error instanceof S3Error;
      }
    }),
  );
});
