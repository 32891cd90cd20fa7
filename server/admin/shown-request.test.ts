import { describe, expect, it } from 'vitest';
import { shownHeaders, shownQuery } from './shown-request.ts';

describe('headers of a trace', () => {
  it('tell whose signature it is, and not the signature', () => {
    const authorization =
      'AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0123abcd';
    expect(shownHeaders({ authorization })['authorization']).toEqual([
      'AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=[redacted]',
    ]);
  });

  it.each([
    ['authorization', 'Bearer eyJhbGciOi'],
    ['authorization', 'AWS AK:c2lnbmF0dXJl'],
    ['cookie', 'session=abc'],
    ['x-amz-security-token', 'token'],
    ['x-amz-server-side-encryption-customer-key', 'a2V5'],
    ['x-amz-copy-source-server-side-encryption-customer-key', 'a2V5'],
  ])('hide %s: %s', (name, value) => {
    expect(shownHeaders({ [name]: value })[name]).toEqual(['[redacted]']);
  });

  it('show all values of the others', () => {
    expect(shownHeaders({ 'content-length': 7, via: ['a', 'b'], host: undefined })).toEqual({
      'content-length': ['7'],
      via: ['a', 'b'],
    });
  });
});

describe('a query of a trace', () => {
  it.each([
    ['', ''],
    ['list-type=2&prefix=a%2Fb', 'list-type=2&prefix=a%2Fb'],
    ['uploads', 'uploads'],
    ['X-Amz-Credential=AK&X-Amz-Signature=ab', 'X-Amz-Credential=AK&X-Amz-Signature=[redacted]'],
    ['x-amz-security-token=ab', 'x-amz-security-token=[redacted]'],
    ['Action=A&LDAPUsername=ann&LDAPPassword=b', 'Action=A&LDAPUsername=ann&LDAPPassword=[redacted]'],
    ['WebIdentity%54oken=ab', 'WebIdentity%54oken=[redacted]'],
  ])('%j is shown as %j', (query, shown) => {
    expect(shownQuery(query)).toBe(shown);
  });
});
