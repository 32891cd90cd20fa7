import {
  CreateBucketCommand,
  GetBucketCorsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presignUrl } from '../../protocol/sigv4/sign-request.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { formBody, formHeaders, signedFields, signedFieldsV2 } from '../support/s3-api/post-forms.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const page = 'https://app.example';
let server: RunningServer;
let s3: S3Client;
let ann: { readonly accessKey: string; readonly secretKey: string };
let session: { readonly accessKey: string; readonly secretKey: string; readonly sessionToken: string };

beforeAll(async () => {
  server = await startServer({ env: { SVC_API_CORS_ALLOW_ORIGIN: 'https://setting.example' } });
  await untilReady(server);
  s3 = s3Client(server);
  for (const Bucket of ['ruled', 'plain', 'public']) await s3.send(new CreateBucketCommand({ Bucket }));
  const rule = {
    AllowedOrigins: [page],
    AllowedMethods: ['GET', 'PUT'],
    AllowedHeaders: ['x-amz-*'],
    ExposeHeaders: ['ETag'],
    MaxAgeSeconds: 60,
  };
  await s3.send(new PutBucketCorsCommand({ Bucket: 'ruled', CORSConfiguration: { CORSRules: [rule] } }));
  await s3.send(new PutObjectCommand({ Bucket: 'ruled', Key: 'key', Body: 'content' }));
  const Statement = [
    { Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::public/open/*' },
  ];
  await s3.send(
    new PutBucketPolicyCommand({ Bucket: 'public', Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
  );
  ann = { accessKey: 'ann', secretKey: 'password-of-ann' };
  await adminCall(server.s3, server, 'PUT', 'add-user?accessKey=ann', { secretKey: ann.secretKey, status: 'enabled' });
  const sts = new STSClient({
    endpoint: server.s3,
    region: 'us-east-1',
    credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
  });
  const { Credentials } = await sts.send(new AssumeRoleCommand({ RoleArn: 'arn:x:y', RoleSessionName: 'test' }));
  session = {
    accessKey: Credentials?.AccessKeyId ?? '',
    secretKey: Credentials?.SecretAccessKey ?? '',
    sessionToken: Credentials?.SessionToken ?? '',
  };
});

afterAll(() => server?.stop());

/** The document of an error, without the ID of its request. */
async function errorOf(answer: Response): Promise<string> {
  const text = await answer.text();
  return text.replace(/^<\?xml[^>]*\?>\n/, '').replace(/<RequestId>[0-9A-F]{16}<\/RequestId>/, '<RequestId/>');
}

const document = (code: string, message: string, details: string, resource: string) =>
  `<Error><Code>${code}</Code><Message>${message}</Message>${details}<Resource>${resource}</Resource>` +
  '<RequestId/><HostId>coffer</HostId></Error>';
const argument = (name: string, value = '') =>
  `<ArgumentName>${name}</ArgumentName>${value === '' ? '<ArgumentValue/>' : `<ArgumentValue>${value}</ArgumentValue>`}`;

type Sign = typeof signedFields;

const ask = (path: string, headers: Readonly<Record<string, string>>) =>
  fetch(`${server.s3}${path}`, { method: 'OPTIONS', headers });
const asking = (origin: string, method: string, headers = 'x-amz-date') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': headers,
});

const of = (method: string, type: string) => `<Method>${method}</Method><ResourceType>${type}</ResourceType>`;

const rules = (content: string) => `<CORSConfiguration><CORSRule>${content}</CORSRule></CORSConfiguration>`;

const put = (body: string) => {
  const signing = { region: 'us-east-1', service: 's3', now: new Date(), expires: 60, method: 'PUT' };
  return fetch(presignUrl(new URL(`${server.s3}/plain?cors`), server, signing), { method: 'PUT', body });
};

const post = (bucket: string, fields: Readonly<Record<string, string>>, content: string | Buffer = 'hello') =>
  fetch(`${server.s3}/${bucket}`, {
    method: 'POST',
    headers: formHeaders,
    body: formBody(fields, { content, filename: 'a.txt' }),
    redirect: 'manual',
  });
const key = 'open/${filename}';

const field = (name: string) =>
  `Bucket POST must contain a field named '${name}'.  If it is specified, please check the order of the fields.`;
const policy = 'Invalid according to Policy: ';

const mismatched = ({ policy: text = '', ...fields }: Readonly<Record<string, string>>) =>
  `<AWSAccessKeyId>root</AWSAccessKeyId><StringToSign>${text}</StringToSign>` +
  `<SignatureProvided>${fields['x-amz-signature'] ?? fields['signature']}</SignatureProvided>` +
  `<StringToSignBytes>${Buffer.from(text)
    .toString('hex')
    .replaceAll(/..(?=.)/g, '$& ')}</StringToSignBytes>`;
const rejected = { key: 'refused' };

const signed = (fields: Record<string, string> = {}, options: Parameters<Sign>[2] = {}) =>
  signedFields({ ...rejected, ...fields }, server, { bucket: 'plain', ...options });
const range = (min: number, max: number) => signed({}, { conditions: [['content-length-range', min, max]] });

describe('a preflight', () => {
  it('is answered to a page of a rule, and to one of the setting', async () => {
    const answer = await ask('/ruled/key', asking(page, 'PUT', 'X-Amz-Date, x-amz-meta-a'));
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'x-amz-date, x-amz-meta-a',
      'access-control-expose-headers': 'ETag',
      'access-control-max-age': '60',
      'access-control-allow-credentials': 'true',
      vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
    });
    expect((await ask('/plain/key', asking('https://setting.example', 'DELETE', 'authorization'))).status).toBe(200);
  });

  const notAllowed =
    'CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / ' +
    "Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.";
  const notEnabled = 'CORSResponse: CORS is not enabled for this bucket.';

  it.each([
    ['/ruled/key', {}, 400, 'BadRequest', 'Insufficient information. Origin request header needed.', ''],
    ['/ruled/key', { origin: page }, 400, 'BadRequest', 'Invalid Access-Control-Request-Method: null', ''],
    ['/ruled/key', asking('https://evil.example', 'PUT'), 403, 'AccessForbidden', notAllowed, of('PUT', 'OBJECT')],
    ['/ruled', asking('https://evil.example', 'GET'), 403, 'AccessForbidden', notAllowed, of('GET', 'BUCKET')],
    ['/ruled/key', asking(page, 'DELETE'), 403, 'AccessForbidden', notAllowed, of('DELETE', 'OBJECT')],
    ['/ruled/key', asking(page, 'PUT', 'authorization'), 403, 'AccessForbidden', notAllowed, of('PUT', 'OBJECT')],
    ['/ruled/key', asking('https://setting.example', 'PUT'), 403, 'AccessForbidden', notAllowed, of('PUT', 'OBJECT')],
    ['/plain/key', asking(page, 'PUT'), 403, 'AccessForbidden', notEnabled, of('PUT', 'BUCKET')],
    ['/absent/key', asking(page, 'PUT'), 403, 'AccessForbidden', notEnabled, of('PUT', 'BUCKET')],
    ['/', asking(page, 'POST'), 403, 'AccessForbidden', notEnabled, of('POST', 'BUCKET')],
  ] as const)('of %s with %j is refused', async (path, headers, status, code, message, details) => {
    const answer = await ask(path, headers);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    expect([answer.status, await errorOf(answer)]).toEqual([status, document(code, message, details, path)]);
  });
});

describe('an answer to a page', () => {
  it.each([
    ['GET', '/ruled/key', page, 403, page],
    ['GET', '/ruled/key', 'https://evil.example', 403, null],
    ['DELETE', '/ruled/key', page, 403, null],
    ['GET', '/plain', 'https://setting.example', 403, 'https://setting.example'],
    ['GET', '/plain', page, 403, null],
    ['POST', '/', 'https://setting.example', 400, 'https://setting.example'],
    ['GET', '/minio/admin/v3/info', 'https://setting.example', 403, null],
  ])('of %s %s to %s has its headers, refused as it is', async (method, path, origin, status, allowed) => {
    const body =
      method === 'POST'
        ? { body: 'Action=None', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
        : {};
    const answer = await fetch(`${server.s3}${path}`, { method, ...body, headers: { ...body.headers, origin } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, allowed]);
  });

  it('has its headers with the object', async () => {
    const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket: 'ruled', Key: 'key' }));
    const answer = await fetch(url, { headers: { origin: page } });
    expect([answer.status, await answer.text(), answer.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'content',
      page,
    ]);
  });
});

describe('PutBucketCors', () => {
  const method = '<AllowedMethod>GET</AllowedMethod>';
  const origin = '<AllowedOrigin>*</AllowedOrigin>';
  const notWellFormed = 'The XML you provided was not well-formed or did not validate against our published schema: ';

  it.each([
    [rules(origin), 'MalformedXML', `${notWellFormed}"CORSRule" lacks "AllowedMethod".`],
    [rules(method), 'MalformedXML', `${notWellFormed}"CORSRule" lacks "AllowedOrigin".`],
    [
      rules(`${origin}<AllowedMethod>PATCH</AllowedMethod>`),
      'InvalidRequest',
      'Found unsupported HTTP method in CORS config. Unsupported method is PATCH',
    ],
    [
      rules(`${method}<AllowedOrigin>*.*</AllowedOrigin>`),
      'InvalidRequest',
      'AllowedOrigin "*.*" can not have more than one wildcard.',
    ],
    [
      rules(`${method}${origin}<ExposeHeader>*</ExposeHeader>`),
      'InvalidRequest',
      'ExposeHeader "*" contains wildcard. We currently do not support wildcard for ExposeHeader.',
    ],
  ])('refuses %s', async (body, code, message) => {
    const answer = await put(body);
    expect([answer.status, await errorOf(answer)]).toEqual([400, document(code, message, '', '/plain')]);
  });

  it('is refused to a caller without the right, and for an absent bucket', async () => {
    const CORSConfiguration = { CORSRules: [{ AllowedOrigins: ['*'], AllowedMethods: ['GET'] }] };
    const other = s3Client(server, { credentials: { accessKeyId: ann.accessKey, secretAccessKey: ann.secretKey } });
    for (const Bucket of ['plain', 'absent']) {
      expect(await refusal(other.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration })))).toEqual({
        code: 'AccessDenied',
        status: 403,
      });
    }
    expect(await refusal(s3.send(new PutBucketCorsCommand({ Bucket: 'absent', CORSConfiguration })))).toEqual({
      code: 'NoSuchBucket',
      status: 404,
    });
    expect(await refusal(s3.send(new GetBucketCorsCommand({ Bucket: 'plain' })))).toEqual({
      code: 'NoSuchCORSConfiguration',
      status: 404,
    });
  });
});

describe('a form', () => {
  it.each([
    [
      'version 4',
      (fields) => signedFields(fields, server, { bucket: 'plain', conditions: [['starts-with', '$key', 'open/']] }),
    ],
    [
      'version 2',
      (fields) => signedFieldsV2(fields, server, { bucket: 'plain', conditions: [['starts-with', '$key', 'open/']] }),
    ],
    [
      'a session',
      (fields) => signedFields(fields, session, { bucket: 'plain', conditions: [['starts-with', '$key', 'open/']] }),
    ],
  ] satisfies readonly (readonly [string, (fields: Record<string, string>) => Record<string, string>])[])(
    'signed by %s is stored, and answered with a document',
    async (_, sign) => {
      const answer = await post('plain', sign({ key, success_action_status: '201' }), Buffer.alloc(2_000_000, 'a'));
      expect([answer.status, answer.headers.get('content-type')]).toEqual([201, 'application/xml']);
      const etag = answer.headers.get('etag')?.slice(1, -1);
      expect(await answer.text()).toBe(
        `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${server.s3}/plain/open%2Fa.txt</Location>` +
          `<Bucket>plain</Bucket><Key>open/a.txt</Key><ETag>&quot;${etag}&quot;</ETag></PostResponse>`,
      );
    },
  );

  it('without a signature is stored where a policy allows it', async () => {
    const answer = await post('public', { key });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('location')]).toEqual([
      204,
      null,
      `${server.s3}/public/open%2Fa.txt`,
    ]);
  });

  it('leads to the page that it names', async () => {
    const fields = signedFields({ key: 'a', success_action_redirect: `${page}/done?x=y` }, server, { bucket: 'plain' });
    const answer = await post('plain', fields);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `${page}/done?x=y&bucket=plain&key=a&etag=%225d41402abc4b2a76b9719d911017c592%22`,
    ]);
  });

  const mismatch =
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.';

  it.each([
    ['no credentials', () => rejected, 403, 'AccessDenied', 'Access Denied.', ''],
    [
      'a policy without a signature',
      () => ({ ...rejected, policy: 'e30=' }),
      403,
      'AccessDenied',
      'Access Denied.',
      '',
    ],
    [
      'no key',
      () => signedFields({}, server, { bucket: 'plain' }),
      400,
      'InvalidArgument',
      field('key'),
      argument('key'),
    ],
    ['no policy', () => ({ ...signed(), policy: '' }), 400, 'InvalidArgument', field('policy'), argument('policy')],
    [
      'no signature',
      () => ({ ...signed(), 'x-amz-signature': '' }),
      400,
      'InvalidArgument',
      field('X-Amz-Signature'),
      argument('X-Amz-Signature'),
    ],
    [
      'a wrong signature',
      () => ({ ...signed(), 'x-amz-signature': 'a'.repeat(64) }),
      403,
      'SignatureDoesNotMatch',
      mismatch,
      mismatched,
    ],
    [
      'a wrong version 2 signature',
      () => ({ ...signedFieldsV2(rejected, server), signature: 'a' }),
      403,
      'SignatureDoesNotMatch',
      mismatch,
      mismatched,
    ],
    [
      'an unknown access key',
      () => signedFields(rejected, { accessKey: 'nobody', secretKey: 'x' }),
      403,
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
      '<AWSAccessKeyId>nobody</AWSAccessKeyId>',
    ],
    [
      'another session token',
      () => signedFields(rejected, { ...session, sessionToken: 'x' }),
      403,
      'InvalidTokenId',
      'The security token included in the request is invalid.',
      '',
    ],
    [
      'the rights of a user without any',
      () => signedFields(rejected, ann, { bucket: 'plain' }),
      403,
      'AccessDenied',
      'Access Denied.',
      '',
    ],
    ['an expired policy', () => signed({}, { expires: -1 }), 403, 'AccessDenied', `${policy}Policy expired.`, ''],
    [
      'a policy of another bucket',
      () => signed({}, { bucket: 'ruled' }),
      403,
      'AccessDenied',
      `${policy}Policy Condition failed: ["eq", "$bucket", "ruled"]`,
      '',
    ],
    [
      'another key than its policy has',
      () => ({ ...signed(), key: 'other' }),
      403,
      'AccessDenied',
      `${policy}Policy Condition failed: ["eq", "$key", "refused"]`,
      '',
    ],
    [
      'a field that its policy does not have',
      () => ({ ...signed(), 'x-amz-meta-a': 'b' }),
      403,
      'AccessDenied',
      `${policy}Extra input fields: x-amz-meta-a`,
      '',
    ],
    [
      'too many bytes',
      () => range(1, 4),
      400,
      'EntityTooLarge',
      'Your proposed upload exceeds the maximum allowed size',
      '<ProposedSize>5</ProposedSize><MaxSizeAllowed>4</MaxSizeAllowed>',
    ],
    [
      'too few bytes',
      () => range(6, 9),
      400,
      'EntityTooSmall',
      'Your proposed upload is smaller than the minimum allowed size',
      '<ProposedSize>5</ProposedSize><MinSizeAllowed>6</MinSizeAllowed>',
    ],
    [
      'an unknown condition',
      () => signed({}, { conditions: [['ends-with', '$key', 'a']] }),
      400,
      'InvalidPolicyDocument',
      "Invalid Policy: Invalid Condition: unknown operation 'ends-with'.",
      '',
    ],
    [
      'fields of more than 20 KiB',
      () => ({ ...rejected, 'x-ignore-a': 'a'.repeat(20_480) }),
      400,
      'MaxPostPreDataLengthExceeded',
      'Your POST request fields preceeding the upload file was too large.',
      '<MaxPostPreDataLengthBytes>20480</MaxPostPreDataLengthBytes>',
    ],
  ] as const)('with %s is refused', async (_, fieldsOf, status, code, message, details) => {
    const fields = fieldsOf();
    const answer = await post('plain', fields);
    const more = typeof details === 'string' ? details : details(fields);
    expect([answer.status, await errorOf(answer)]).toEqual([status, document(code, message, more, '/plain')]);
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'plain', Prefix: 'refused' }));
    expect(Contents).toEqual([]);
  });
});
