import { describe, expect, it } from 'vitest';
import type { IncomingRequest } from '../http/contract/request.ts';
import { parseQuery } from './request.ts';
import { requestContext } from './request-context.ts';

type Request = { readonly headers?: Record<string, string>; readonly query?: string };

function contextOf(request: Request, kind: 'user' | 'anonymous' = 'user') {
  const incoming = { headers: request.headers ?? {}, remoteAddress: '192.0.2.1', secure: true } as IncomingRequest;
  return requestContext(incoming, { kind }, parseQuery(request.query ?? ''), new Date('2026-01-02T03:04:05Z'));
}

describe('the condition keys of a request', () => {
  it('contain the connection and the time', () => {
    expect(contextOf({})).toEqual({
      'aws:SourceIp': ['192.0.2.1'],
      'aws:SecureTransport': ['true'],
      'aws:CurrentTime': ['2026-01-02T03:04:05.000Z'],
      'aws:EpochTime': ['1767323045'],
      'aws:ResourceAccount': ['000000000000'],
      's3:ResourceAccount': ['000000000000'],
    });
  });

  it('contain the version of TLS where there is one', () => {
    const request = { headers: {}, remoteAddress: '192.0.2.1', secure: true, tlsVersion: () => '1.2' };
    const context = requestContext(
      request as unknown as IncomingRequest,
      { kind: 'user' },
      parseQuery(''),
      new Date(0),
    );
    expect(context['s3:TlsVersion']).toEqual(['1.2']);
  });

  it.each([
    ['in a header', { headers: { authorization: 'AWS4-HMAC-SHA256 …' } }, ['REST-HEADER'], ['AWS4-HMAC-SHA256']],
    ['in the address', { query: 'X-Amz-Signature=0' }, ['REST-QUERY-STRING'], ['AWS4-HMAC-SHA256']],
    ['in a header, by version 2', { headers: { authorization: 'AWS ann:c2ln' } }, ['REST-HEADER'], ['AWS']],
    ['in the address, by version 2', { query: 'AWSAccessKeyId=a&Signature=b' }, ['REST-QUERY-STRING'], ['AWS']],
    ['nowhere', {}, undefined, undefined],
  ])('tell where it is signed: %s', (_, request, type, version) => {
    const context = contextOf(request);
    expect([context['s3:authType'], context['s3:signatureversion']]).toEqual([type, version]);
  });

  it.each([
    { query: 'X-Amz-Signature' },
    { query: 'X%2DAmz-Signature=0&X-Amz-Date=20260102T030405Z' },
    { query: '%41WSAccessKeyId=a' },
    { headers: { authorization: 'AWS4-HMAC-SHA256 …' } },
  ])('tell no signature of an anonymous caller: %o', (request) => {
    expect(Object.keys(contextOf(request, 'anonymous')).filter((key) => /^s3:(?!Resource)/.test(key))).toEqual([]);
  });

  it.each([
    // As AWS documents them, by what they are about.
    ['s3:prefix', { query: 'list-type=2&prefix=a%2Fb' }, 'a/b'],
    ['s3:prefix', { query: 'prefix=' }, ''],
    ['s3:delimiter', { query: 'delimiter=%2F' }, '/'],
    ['s3:max-keys', { query: 'max-keys=10' }, '10'],
    ['s3:VersionId', { query: 'versionId=null' }, 'null'],
    ['s3:if-match', { headers: { 'if-match': '"e"' } }, '"e"'],
    ['s3:if-none-match', { headers: { 'if-none-match': '*' } }, '*'],
    ['s3:x-amz-acl', { headers: { 'x-amz-acl': 'public-read' } }, 'public-read'],
    ['s3:x-amz-content-sha256', { headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }, 'UNSIGNED-PAYLOAD'],
    ['s3:x-amz-content-sha256', { query: 'X-Amz-Signature=0' }, 'UNSIGNED-PAYLOAD'],
    ['s3:x-amz-content-sha256', { headers: { 'x-amz-content-sha256': 'abc' }, query: 'X-Amz-Signature=0' }, 'abc'],
    ['s3:x-amz-content-sha256', { query: 'X-Amz-Signature=0&X-Amz-Content-Sha256=abc' }, 'abc'],
    ['s3:x-amz-content-sha256', { query: 'X-Amz-Signature=0&x-amz-content-sha256=abc' }, 'abc'],
    // Version 2 covers no body.
    ['s3:x-amz-content-sha256', { headers: { authorization: 'AWS ann:c2ln' } }, 'UNSIGNED-PAYLOAD'],
    ['s3:x-amz-content-sha256', { query: 'AWSAccessKeyId=a&Signature=b' }, 'UNSIGNED-PAYLOAD'],
    ['s3:signatureAge', { query: 'X-Amz-Signature=0&X-Amz-Date=20260102T030305Z' }, '60000'],
    ['s3:signatureAge', { query: 'X-Amz-Signature=0&X-Amz-Date=20260102T030505Z' }, '0'],
    // It does not say when it was made.
    ['s3:signatureAge', { query: 'AWSAccessKeyId=a&Signature=b' }, String(Number.MAX_SAFE_INTEGER)],
    ['s3:x-amz-copy-source', { headers: { 'x-amz-copy-source': '/photos/a.jpg' } }, '/photos/a.jpg'],
    ['s3:x-amz-grant-read', { headers: { 'x-amz-grant-read': 'id="1"' } }, 'id="1"'],
    ['s3:x-amz-metadata-directive', { headers: { 'x-amz-metadata-directive': 'REPLACE' } }, 'REPLACE'],
    ['s3:x-amz-server-side-encryption', { headers: { 'x-amz-server-side-encryption': 'aws:kms' } }, 'aws:kms'],
    [
      's3:x-amz-server-side-encryption-customer-algorithm',
      { headers: { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' } },
      'AES256',
    ],
    ['s3:x-amz-storage-class', { headers: { 'x-amz-storage-class': 'STANDARD' } }, 'STANDARD'],
  ])('has %s of %j', (key, request, value) => {
    const found = Object.entries(contextOf(request)).find(([name]) => name.toLowerCase() === key.toLowerCase());
    expect(found?.[1]).toEqual([value]);
  });

  it.each(
    's3:prefix s3:delimiter s3:max-keys s3:versionid s3:x-amz-acl s3:x-amz-content-sha256 s3:signatureAge'.split(' '),
  )('lack %s where the request says nothing of it', (key) => {
    expect(contextOf({ headers: { authorization: 'AWS4-HMAC-SHA256 …' } })).not.toHaveProperty([key]);
  });

  it('contain parameters and headers, and no customer key', () => {
    const headers = { 'x-amz-acl': 'private', 'x-amz-server-side-encryption-customer-key': 'secret' };
    expect(contextOf({ headers, query: 'prefix=a%2F' })).toMatchObject({
      's3:prefix': ['a/'],
      's3:x-amz-acl': ['private'],
    });
    expect(JSON.stringify(contextOf({ headers }))).not.toContain('secret');
  });
});
