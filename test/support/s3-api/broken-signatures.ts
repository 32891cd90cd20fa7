import {
  now,
  type PlainRequest,
  root,
  type SentRequest,
  sign,
  type Signing,
  type Way,
  ways,
} from './sign-every-way.ts';

/** Temporary credentials. Their session token is `token`. */
export const temporary = { accessKey: 'TEMPORARY', secretKey: 'temporary-secret', sessionToken: 'token' };

/** A refusal. */
export interface Expected {
  readonly status: number;
  readonly code: string;
  readonly message: string | RegExp;
  /** Elements of the XML besides Code, Message, Resource, RequestId and HostId. */
  readonly details?: readonly string[];
}

/** Makes a request whose signature breaks a rule. */
type Break = (request: PlainRequest, way: Way) => SentRequest;
export type Rule = readonly [what: string, ways: readonly Way[], make: Break, expected: Expected];

const byRoot =
  (signing: Signing = {}): Break =>
  (request, way) =>
    sign(way, request, root, signing);
const changed =
  (change: (sent: SentRequest) => Partial<SentRequest>): Break =>
  (request, way) => {
    const sent = sign(way, request, root);
    return { ...sent, ...change(sent) };
  };
const withHeader = (name: string, value: string) =>
  changed(({ headers }) => ({ headers: { ...headers, [name]: value } }));
const withoutHeader = (name: string) =>
  changed(({ headers }) => ({ headers: Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name)) }));
const inTarget = (from: string | RegExp, to: string) => changed(({ target }) => ({ target: target.replace(from, to) }));
const inAuthorization = (from: string | RegExp, to: string) =>
  changed(({ headers }) => ({
    headers: { ...headers, authorization: (headers['authorization'] ?? '').replace(from, to) },
  }));

const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
const headers: readonly Way[] = ['header V4', 'header V2'];
const urls: readonly Way[] = ['URL V4', 'URL V2'];

const denied = (message: string | RegExp, details: readonly string[] = []): Expected => ({
  status: 403,
  code: 'AccessDenied',
  message,
  details,
});
const malformed = (message: RegExp, details: readonly string[] = []): Expected => ({
  status: 400,
  code: 'AuthorizationHeaderMalformed',
  message,
  details,
});
const query = (message: RegExp, details: readonly string[] = []): Expected => ({
  status: 400,
  code: 'AuthorizationQueryParametersError',
  message,
  details,
});
const argument = (message: string | RegExp, details: readonly string[] = ['ArgumentName']): Expected => ({
  status: 400,
  code: 'InvalidArgument',
  message,
  details,
});
export const mismatch: Expected = {
  status: 403,
  code: 'SignatureDoesNotMatch',
  message: /^The request signature we calculated does not match the signature you provided\. Check your key/,
  details: ['AWSAccessKeyId', 'StringToSign', 'SignatureProvided', 'StringToSignBytes'],
};
export const mismatchV4 = {
  ...mismatch,
  details: [...(mismatch.details ?? []), 'CanonicalRequest', 'CanonicalRequestBytes'],
};
const unsigned = /^There were headers present in the request which were not signed: /;
const skewed: Expected = {
  status: 403,
  code: 'RequestTimeTooSkewed',
  message: /^The difference between the request time \(\S+Z\) and the current time \(\S+Z\) is too large\.$/,
  details: ['RequestTime', 'ServerTime', 'MaxAllowedSkewMilliseconds'],
};
const expired = denied('Request has expired', ['Expires', 'ServerTime']);
const incomplete = denied('Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters');
const oneMechanism = argument(
  'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the ' +
    'Authorization header should be specified',
);
const unsupported = (status: number, code: string, message: string | RegExp): Expected => ({ status, code, message });

/** The rules of signatures, each with a request that breaks it. */
export const rules: readonly Rule[] = [
  [
    'an unknown access key',
    ways,
    (request, way) => sign(way, request, { accessKey: 'nobody', secretKey: 'x' }),
    {
      status: 403,
      code: 'InvalidAccessKeyId',
      message: 'The AWS Access Key Id you provided does not exist in our records.',
      details: ['AWSAccessKeyId'],
    },
  ],
  [
    'temporary credentials without their token',
    ways,
    (request, way) => sign(way, request, { accessKey: temporary.accessKey, secretKey: temporary.secretKey }),
    {
      status: 403,
      code: 'InvalidTokenId',
      message: /^These are temporary credentials: requests must carry their session token/,
    },
  ],
  [
    'a token of long-lived credentials',
    ['header V4', 'URL V4'],
    (request, way) => sign(way, request, { ...root, sessionToken: 'x' }),
    {
      status: 403,
      code: 'InvalidTokenId',
      message: 'The security token included in the request is invalid.',
    },
  ],
  [
    'the wrong token',
    ['header V4', 'URL V4'],
    (request, way) => sign(way, request, { ...temporary, sessionToken: 'other' }),
    {
      status: 403,
      code: 'InvalidTokenId',
      message: 'The security token included in the request is invalid.',
    },
  ],
  [
    'a token that has expired',
    ['header V4', 'URL V4'],
    (request, way) => sign(way, request, { accessKey: 'GONE', secretKey: 'x', sessionToken: 'expired' }),
    {
      status: 400,
      code: 'ExpiredToken',
      message: 'The temporary credentials have expired; get new ones.',
    },
  ],
  ['a clock that is late', headers, byRoot({ at: minutes(-16) }), skewed],
  ['a clock that is fast', headers, byRoot({ at: minutes(16) }), skewed],
  ['a URL that has expired', urls, byRoot({ at: minutes(-2) }), expired],
  [
    'a URL of tomorrow',
    ['URL V4'],
    byRoot({ at: minutes(20) }),
    denied(/^Request is not valid before 2026-03-04T05:26:07.000Z\.$/),
  ],
  [
    'another region',
    ['header V4'],
    byRoot({ region: 'eu-west-1' }),
    malformed(/the region 'eu-west-1' is wrong; expecting 'us-east-1'\.$/, ['Region']),
  ],
  [
    'another region',
    ['URL V4'],
    byRoot({ region: 'eu-west-1' }),
    query(/the region 'eu-west-1' is wrong; expecting 'us-east-1'\.$/, ['Region']),
  ],
  [
    'another service',
    ['header V4'],
    byRoot({ service: 'sts' }),
    malformed(/the service 'sts' is wrong; expecting 's3'\.$/),
  ],
  ['another service', ['URL V4'], byRoot({ service: 'sts' }), query(/the service 'sts' is wrong; expecting 's3'\.$/)],
  ['another host', ['header V4', 'URL V4'], withHeader('host', 'elsewhere.example'), mismatchV4],
  [
    'a parameter more',
    ['header V4', 'URL V4'],
    changed(({ target }) => ({ target: `${target}${target.includes('?') ? '&' : '?'}prefix=a` })),
    mismatchV4,
  ],
  ['a header more', ['header V4', 'URL V4'], withHeader('x-amz-meta-a', 'b'), denied(unsigned, ['HeadersNotSigned'])],
  ['a header more', ['header V2', 'URL V2'], withHeader('x-amz-meta-a', 'b'), mismatch],
  ['a header of MinIO more', ways, withHeader('x-minio-force-delete', 'false'), denied(unsigned, ['HeadersNotSigned'])],
  ['a type that was not signed', ['header V2', 'URL V2'], withHeader('content-type', 'text/html'), mismatch],
  [
    'a digest that was not signed',
    ['header V2', 'URL V2'],
    withHeader('content-md5', 'AAAAAAAAAAAAAAAAAAAAAA=='),
    mismatch,
  ],
  ['another date', ['header V4'], withHeader('x-amz-date', '20260304T050608Z'), mismatchV4],
  [
    'another day than its scope',
    ['header V4'],
    withHeader('x-amz-date', '20260305T000000Z'),
    malformed(/the date "20260304" of the credential is not the day of the request, "20260305"\.$/),
  ],
  [
    'no date',
    ['header V4'],
    withoutHeader('x-amz-date'),
    denied(/^AWS authentication requires a valid Date or x-amz-date header/),
  ],
  [
    'no date',
    ['header V2'],
    withoutHeader('date'),
    denied('AWS authentication requires a valid Date or x-amz-date header'),
  ],
  [
    'no hash of its body',
    ['header V4'],
    withoutHeader('x-amz-content-sha256'),
    { status: 400, code: 'InvalidRequest', message: 'Missing required header for this request: x-amz-content-sha256.' },
  ],
  [
    'a hash that is none',
    ['header V4'],
    byRoot({ payloadHash: 'abc' }),
    argument(
      /^x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING-… kind, or 64 hexadecimal digits, not "abc"\.$/,
      ['ArgumentName', 'ArgumentValue'],
    ),
  ],
  [
    'chunks by ECDSA',
    ['header V4'],
    byRoot({ payloadHash: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' }),
    {
      status: 501,
      code: 'NotImplemented',
      message: 'The payload kind "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD" is not implemented.',
      details: ['ArgumentName', 'ArgumentValue'],
    },
  ],
  [
    'chunks by ECDSA with a trailer',
    ['header V4'],
    byRoot({ payloadHash: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER' }),
    {
      status: 501,
      code: 'NotImplemented',
      message: /ECDSA-P256-SHA256-PAYLOAD-TRAILER" is not implemented\.$/,
      details: ['ArgumentName', 'ArgumentValue'],
    },
  ],
  [
    'chunks without their length',
    ['header V4'],
    byRoot({ payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }),
    {
      status: 411,
      code: 'MissingContentLength',
      message: 'A streaming body needs the header x-amz-decoded-content-length.',
    },
  ],
  [
    'signed chunks',
    ['URL V2', 'header V2'],
    (request, way) => {
      const payload = {
        'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
        'x-amz-decoded-content-length': '0',
      };
      return sign(way, { ...request, headers: { ...request.headers, ...payload } }, root);
    },
    {
      status: 400,
      code: 'InvalidRequest',
      message: 'A body of signed chunks needs a request that is signed in its header.',
    },
  ],
  [
    'a signature by ECDSA',
    ['header V4'],
    inAuthorization('AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256'),
    unsupported(400, 'UnsupportedSignature', /^The signature scheme "AWS4-ECDSA-P256-SHA256" is not supported/),
  ],
  [
    'another scheme',
    headers,
    withHeader('authorization', 'Bearer abc'),
    argument(/^Unsupported Authorization type "Bearer"/, []),
  ],
  ['no credential', ['header V4'], inAuthorization(/Credential=[^,]*, /, ''), malformed(/Credential is missing\.$/)],
  [
    'no signed headers',
    ['header V4'],
    inAuthorization(/SignedHeaders=[^,]*, /, ''),
    malformed(/SignedHeaders is missing\.$/),
  ],
  ['no signature', ['header V4'], inAuthorization(/, Signature=.*/, ''), malformed(/Signature is missing\.$/)],
  [
    'a field twice',
    ['header V4'],
    inAuthorization(/^(AWS4-HMAC-SHA256 )/, '$1Signature=a, '),
    malformed(/once each, not "Signature=/),
  ],
  [
    'a signature that is none',
    ['header V4'],
    inAuthorization(/Signature=.*/, 'Signature=abc'),
    malformed(/Signature must be 64 hexadecimal digits in lower case\.$/),
  ],
  [
    'a credential that ends otherwise',
    ['header V4'],
    inAuthorization('aws4_request', 'aws5_request'),
    malformed(/must end with "aws4_request", not "aws5_request"\.$/),
  ],
  [
    'an unsigned host',
    ['header V4'],
    inAuthorization('SignedHeaders=host;', 'SignedHeaders='),
    denied(unsigned, ['HeadersNotSigned']),
  ],
  [
    'a header of another form',
    ['header V2'],
    inAuthorization(':', ' '),
    argument('AWS authorization header is invalid.  Expected AwsAccessKeyId:signature'),
  ],
  ...['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders'].map((name): Rule => [
    `no X-Amz-${name}`,
    ['URL V4'],
    inTarget(new RegExp(`X-Amz-${name}=[^&]*&`), ''),
    query(new RegExp(`needs X-Amz-${name}\\.$`)),
  ]),
  ['no signature', ['URL V4'], inTarget(/&X-Amz-Signature=[^&]*/, ''), query(/needs X-Amz-Signature\.$/)],
  [
    'another algorithm',
    ['URL V4'],
    inTarget('=AWS4-HMAC-SHA256', '=AWS4-ECDSA-P256-SHA256'),
    query(/X-Amz-Algorithm must be "AWS4-HMAC-SHA256"/),
  ],
  [
    'more than a week',
    ['URL V4'],
    inTarget('X-Amz-Expires=60', 'X-Amz-Expires=604801'),
    query(/must be 1 to 604800 seconds \(a week\), not "604801"\.$/),
  ],
  ['no second', ['URL V4'], inTarget('X-Amz-Expires=60', 'X-Amz-Expires=0'), query(/must be 1 to 604800 seconds/)],
  ['a longer life than was signed', ['URL V4'], inTarget('X-Amz-Expires=60', 'X-Amz-Expires=61'), mismatchV4],
  [
    'a parameter twice',
    ['URL V4'],
    inTarget('&X-Amz-Expires=60', '&X-Amz-Expires=60&X-Amz-Expires=60'),
    query(/X-Amz-Expires is given more than once\.$/),
  ],
  [
    'a date that is none',
    ['URL V4'],
    inTarget(/X-Amz-Date=[^&]*/, 'X-Amz-Date=yesterday'),
    query(/X-Amz-Date must be like 20130524T000000Z, not "yesterday"\.$/),
  ],
  ['no end', ['URL V2'], inTarget(/Expires=\d+&/, ''), incomplete],
  ['no access key', ['URL V2'], inTarget(/AWSAccessKeyId=[^&]*&/, ''), incomplete],
  ['no signature', ['URL V2'], inTarget(/&Signature=[^&]*/, ''), incomplete],
  [
    'an end that is none',
    ['URL V2'],
    inTarget(/Expires=\d+/, 'Expires=tomorrow'),
    denied('Invalid date (should be seconds since epoch): tomorrow'),
  ],
  ['another end', ['URL V2'], inTarget(/Expires=\d+/, 'Expires=4102444800'), mismatch],
  [
    'its signature twice',
    ['URL V2'],
    inTarget(/(&Signature=[^&]*)/, '$1$1'),
    argument('Signature is given more than once.', []),
  ],
  [
    'a second signature in the query',
    headers,
    changed(({ target }) => ({ target: `${target}${target.includes('?') ? '&' : '?'}Signature=a` })),
    oneMechanism,
  ],
  ['a second signature in the header', urls, withHeader('authorization', 'AWS root:a'), oneMechanism],
  [
    'a signature of each version',
    ['URL V4'],
    changed(({ target }) => ({ target: `${target}&AWSAccessKeyId=root` })),
    oneMechanism,
  ],
];
