import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { KnownAuthorizations, parseFields, parseAuthorization, type SignatureClaim } from './parse-authorization.ts';

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

describe('the access key of a header', () => {
  it.each(['team:ann', 'dom\\bob', "O'Brien", 'user name', '<ann>;"x"', 'ümit', '文'])('may be %j', (name) => {
    const sent = Buffer.from(rest.replace('user/', `${name}/`)).toString('latin1');
    expect(parseFields(sent + a)).toMatchObject({ accessKey: name, scope: { date: '20240229' } });
  });

  it('is what was sent where that is no UTF-8', () => {
    expect(parseFields(rest.replace('user/', '\u00fcmit/') + a).accessKey).toBe('ümit');
  });
});

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
    const part = fc.constantFrom(...names, ...values, ' ', ',', ', ', '\t');
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
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
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

const signature = 'a'.repeat(64);
const good = `AWS4-HMAC-SHA256 Credential=user/20240229/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`;
const presigned = [
  ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
  ['X-Amz-Credential', 'user%2F20240229%2Fus-east-1%2Fs3%2Faws4_request'],
  ['X-Amz-Date', '20240229T120000Z'],
  ['X-Amz-Expires', '60'],
  ['X-Amz-SignedHeaders', 'host'],
  ['X-Amz-Signature', signature],
] as const;

function byHeader(authorization: string, headers: Record<string, string> = {}): SignatureClaim | undefined {
  const all = { host: 'h', 'x-amz-date': '20240229T120000Z', authorization, ...headers };
  return version4(parseAuthorization({ method: 'GET', rawPath: '/', rawQuery: '', headers: all }));
}

function version4(claim: ReturnType<typeof parseAuthorization>): SignatureClaim | undefined {
  if (claim?.kind === 'version-2') throw new Error('signed by version 2');
  return claim;
}

function byQuery(rawQuery: string, headers: Record<string, string> = {}): SignatureClaim | undefined {
  return version4(parseAuthorization({ method: 'GET', rawPath: '/', rawQuery, headers: { host: 'h', ...headers } }));
}

function queryWith(name: string, value: string | undefined): string {
  return presigned
    .map(([known, good]) => [known, known === name ? value : good] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

const headerNames = (count: number) => Array.from({ length: count }, (_, at) => `x-amz-meta-${at}`).join(';');
const signing = (count: number) => good.replace('host;x-amz-date', headerNames(count));

describe('by header', () => {
  it('reads the parts of the claim', () => {
    expect(byHeader(good, { 'x-amz-security-token': 't', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' })).toEqual({
      kind: 'header',
      accessKey: 'user',
      scope: { date: '20240229', region: 'us-east-1', service: 's3' },
      signedHeaders: ['host', 'x-amz-date'],
      signature,
      timestamp: new Date('2024-02-29T12:00:00Z'),
      sessionToken: 't',
      payloadHash: 'UNSIGNED-PAYLOAD',
    });
  });

  it('reads fields that no space separates', () => {
    expect(byHeader(good.replaceAll(', ', ','))?.signature).toBe(signature);
  });

  it('reads an access key with slashes', () => {
    expect(byHeader(good.replace('=user/', '=team/a/user/'))?.accessKey).toBe('team/a/user');
  });

  it.each(['GMT', '+0000', '-0000'])('reads the Date header where x-amz-date is absent, with the zone %s', (zone) => {
    const claim = parseAuthorization({
      method: 'GET',
      rawPath: '/',
      rawQuery: '',
      headers: { date: `Thu, 29 Feb 2024 12:00:00 ${zone}`, authorization: good },
    });
    expect(version4(claim)?.timestamp).toEqual(new Date('2024-02-29T12:00:00Z'));
  });

  it.each([
    ['no credential', good.replace(/Credential=[^,]*, /, '')],
    ['a credential that is too short', good.replace('/s3/aws4_request', '')],
    ['another terminator', good.replace('aws4_request', 'aws5_request')],
    ['an empty access key', good.replace('=user/', '=/')],
    ['a date that is none', good.replace('20240229', '2024-2-9')],
    ['the date of another day', good.replace('20240229', '20240301')],
    ['no signed headers', good.replace(/SignedHeaders=[^,]*, /, '')],
    ['a signed header twice', good.replace('host;', 'host;host;')],
    ['no signature', good.replace(/, Signature=.*/, '')],
    ['a short signature', good.slice(0, -1)],
    ['a field twice', `${good}, Signature=${signature}`],
    ['nothing but the scheme', 'AWS4-HMAC-SHA256'],
  ])('refuses %s', (_, authorization) => {
    expect(codeOf(() => byHeader(authorization))).toBe('AuthorizationHeaderMalformed');
  });

  it('takes many signed headers, and says what is wrong with too many', () => {
    expect(byHeader(signing(500))?.signedHeaders).toHaveLength(500);
    expect(() => byHeader(signing(501))).toThrow(/more than 500 headers/);
  });

  it.each(['AWS3 user:c2ln', 'AWS4-ECDSA-P256-SHA256 Credential=…'])(
    'says that %s is not supported',
    (authorization) => {
      expect(codeOf(() => byHeader(authorization))).toBe('UnsupportedSignature');
    },
  );

  it('refuses another scheme', () => {
    expect(codeOf(() => byHeader('Bearer abc'))).toBe('InvalidArgument');
  });

  it.each(['', 'yesterday', '20240230T120000Z', '2024-02-29T12:00:00Z'])('refuses the date "%s"', (date) => {
    expect(codeOf(() => byHeader(good, { 'x-amz-date': date }))).toBe('AccessDenied');
  });
});

describe('by query', () => {
  it('reads the parts of the claim', () => {
    expect(byQuery(`${queryWith('', '')}&X-Amz-Security-Token=a%2Bb`)).toMatchObject({
      kind: 'presigned',
      accessKey: 'user',
      expires: 60,
      sessionToken: 'a+b',
      payloadHash: 'UNSIGNED-PAYLOAD',
    });
  });

  it.each(presigned.map(([name]) => name))('refuses to go without %s', (name) => {
    expect(codeOf(() => byQuery(queryWith(name, undefined)))).toBe('AuthorizationQueryParametersError');
  });

  it.each(['0', '604801', '-1', '1.5', '', '1e3', '99999999999'])('refuses to expire after "%s" seconds', (expires) => {
    expect(codeOf(() => byQuery(queryWith('X-Amz-Expires', expires)))).toBe('AuthorizationQueryParametersError');
  });

  it('takes a week', () => {
    expect(byQuery(queryWith('X-Amz-Expires', '604800'))?.expires).toBe(604_800);
  });

  it('refuses a parameter twice', () => {
    expect(codeOf(() => byQuery(`${queryWith('', '')}&X-Amz-Expires=10`))).toBe('AuthorizationQueryParametersError');
  });

  it.each([
    'AWSAccessKeyId=user&Expires=1&Signature=x',
    'AWSAccessKeyId=user',
    'Signature=x',
    'a=b&%53ignature=x&Signature=y',
    '%53ignature=x',
    'Signature',
  ])('finds a signature of version 2 in %s', (rawQuery) => {
    const claim = parseAuthorization({ method: 'GET', rawPath: '/', rawQuery, headers: { host: 'h' } });
    expect(claim).toEqual({ kind: 'version-2', place: 'query' });
  });

  it('finds a signature of version 2 in the header', () => {
    for (const authorization of ['AWS user:c2ln', 'AWS']) {
      const claim = parseAuthorization({ method: 'GET', rawPath: '/', rawQuery: '', headers: { authorization } });
      expect(claim).toEqual({ kind: 'version-2', place: 'header' });
    }
  });

  it.each(['X-Amz-Signature', 'a=b&X%2DAmz-Signature=x', 'X-Amz-%43redential', '%58-Amz-Algorithm='])(
    'finds one that lacks the rest in %s',
    (rawQuery) => {
      expect(codeOf(() => byQuery(rawQuery))).toBe('AuthorizationQueryParametersError');
    },
  );

  it('takes a query whose values alone look like a signature for none', () => {
    expect(byQuery('prefix=X-Amz-Signature=&marker=Signature=')).toBeUndefined();
  });

  it.each([
    ['version 4 in the header and version 2 in the query', good, 'AWSAccessKeyId=user&Expires=1&Signature=x'],
    ['version 2 in both', 'AWS user:c2ln', 'AWSAccessKeyId=user&Expires=1&Signature=x'],
    ['version 2 in the header and version 4 in the query', 'AWS user:c2ln', 'X-Amz-Signature=x'],
    ['both versions in the query', undefined, 'X-Amz-Signature=x&Signature=x'],
  ])('refuses %s', (_, authorization, rawQuery) => {
    const headers = authorization === undefined ? {} : { authorization };
    expect(() => parseAuthorization({ method: 'GET', rawPath: '/', rawQuery, headers })).toThrow(
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the ' +
        'Authorization header should be specified',
    );
  });

  it('refuses both ways at once', () => {
    expect(codeOf(() => byQuery(queryWith('', ''), { authorization: good }))).toBe('InvalidArgument');
  });
});

it('takes a request without any for anonymous', () => {
  expect(byQuery('list-type=2&prefix=X-Amz')).toBeUndefined();
});

it('refuses whatever comes with an S3Error', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (authorization, query) => {
      codeOf(() => byHeader(`AWS4-HMAC-SHA256 ${authorization}`));
      codeOf(() => byHeader(authorization));
      codeOf(() => byQuery(`X-Amz-Signature=${query}`));
      codeOf(() => byQuery(queryWith('X-Amz-Credential', query)));
    }),
  );
});
