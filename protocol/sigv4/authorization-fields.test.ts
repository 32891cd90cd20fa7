import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { KnownAuthorizations, parseFields } from './authorization-fields.ts';

const rest =
  'AWS4-HMAC-SHA256 Credential=user/20240229/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=';
const a = 'a'.repeat(64);
const b = 'b'.repeat(64);

function outcomeOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (error instanceof S3Error) return `${error.code} ${error.message}`;
    throw error;
  }
}

describe('known Authorization headers', () => {
  it('read the next signature of a header that they know', () => {
    const known = new KnownAuthorizations();
    known.parse(rest + a);
    expect(known.parse(rest + b)).toEqual(parseFields(rest + b));
  });

  it('refuse what is no signature after a header that they know', () => {
    const known = new KnownAuthorizations();
    known.parse(rest + a);
    for (const end of [b.toUpperCase(), ` ${b.slice(1)}`, b.slice(2), `${b}b`, `${b.slice(1)},`]) {
      expect(outcomeOf(() => known.parse(rest + end))).toBe(outcomeOf(() => parseFields(rest + end)));
    }
  });

  it('do not take the end of the header for the signature where it is another field', () => {
    const known = new KnownAuthorizations();
    const odd = `AWS4-HMAC-SHA256 Credential=user/20240229/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=${a},XSignature=`;
    known.parse(odd + a);
    expect(known.parse(odd + b).signature).toBe(a);
  });

  it('read whatever is sent as if it came for the first time', () => {
    const names = ['AWS4-HMAC-SHA256', 'Credential=', 'SignedHeaders=', 'Signature=', 'Signature', 'XSignature='];
    const values = ['user/20240229/us-east-1/s3/aws4_request', 'host', 'host;range', a, b, a.slice(1), 'x'];
    const piece = fc.constantFrom(...names, ...values, ' ', ',', ', ', '\t');
    const valid = fc
      .tuple(
        fc.constantFrom('u', 'v'),
        fc.constantFrom('host', 'host;range'),
        fc.constantFrom(',', ', '),
        fc.constantFrom(a, b, a.slice(1)),
      )
      .map(
        ([user, headers, separator, signature]) =>
          `AWS4-HMAC-SHA256 Credential=${user}/20240229/r/s3/aws4_request${separator}SignedHeaders=${headers}${separator}Signature=${signature}`,
      );
    const header = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      valid,
    );
    const known = new KnownAuthorizations(3);
    fc.assert(
      fc.property(fc.array(header, { maxLength: 10 }), (headers) => {
        for (const each of headers)
          expect(outcomeOf(() => known.parse(each))).toEqual(outcomeOf(() => parseFields(each)));
      }),
      { numRuns: 2_000 },
    );
  });
});
