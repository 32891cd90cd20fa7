import { describe, expect, it } from 'vitest';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { parseQuery } from './query.ts';
import { requestContext } from './request-context.ts';

function contextOf(request: { readonly headers?: Record<string, string>; readonly query?: string }) {
  const incoming = { headers: request.headers ?? {}, remoteAddress: '192.0.2.1', secure: true } as IncomingRequest;
  return requestContext(incoming, parseQuery(request.query ?? ''), new Date('2026-01-02T03:04:05Z'));
}

describe('the condition keys of a request', () => {
  it('tell the connection and the time', () => {
    expect(contextOf({})).toEqual({
      'aws:SourceIp': ['192.0.2.1'],
      'aws:SecureTransport': ['true'],
      'aws:CurrentTime': ['2026-01-02T03:04:05.000Z'],
      'aws:EpochTime': ['1767323045'],
    });
  });

  it.each([
    ['in a header', { headers: { authorization: 'AWS4-HMAC-SHA256 …' } }, ['REST-HEADER'], ['AWS4-HMAC-SHA256']],
    ['in the address', { query: 'X-Amz-Signature=0' }, ['REST-QUERY-STRING'], ['AWS4-HMAC-SHA256']],
    ['nowhere', {}, undefined, undefined],
  ])('tell where it is signed: %s', (_, request, type, version) => {
    const context = contextOf(request);
    expect([context['s3:authType'], context['s3:signatureversion']]).toEqual([type, version]);
  });

  it('tell parameters and headers, and no key of a client', () => {
    const headers = { 'x-amz-acl': 'private', 'x-amz-server-side-encryption-customer-key': 'secret' };
    expect(contextOf({ headers, query: 'prefix=a%2F' })).toMatchObject({
      's3:prefix': ['a/'],
      's3:x-amz-acl': ['private'],
    });
    expect(JSON.stringify(contextOf({ headers }))).not.toContain('secret');
  });
});
