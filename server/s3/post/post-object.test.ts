import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createFormAuthenticator } from '../../auth/authenticate-form.ts';
import type { AccessRequest } from '../../auth/principal.ts';
import { formBody, formHeaders, signedFields, signedFieldsV2 } from '../../../test/support/s3-api/post-forms.ts';
import { type Reply, testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const ann = { accessKey: 'ann', secretKey: 'secret-of-ann' };
const principal = { kind: 'root', accessKey: 'ann' } as const;
const file = { content: 'hello', filename: 'a.txt' };

/** Calls of a caller without credentials, and forms that Ann may sign. */
async function withForms(
  options: Pick<NonNullable<Parameters<typeof testCalls>[0]>, 'authorize' | 'layer' | 'domains'> & {
    readonly signatureV2?: 'off';
  } = {},
) {
  const test = await testCalls({
    ...options,
    authenticate: (request) =>
      Promise.resolve({
        principal: request.headers.authorization === undefined ? { kind: 'anonymous' } : principal,
        body: request.body,
        size: request.headers['content-length'] === 'none' ? undefined : Number(request.headers['content-length']),
      }),
    authenticateForm: createFormAuthenticator({
      credentials: {
        credentials: (accessKey) => Promise.resolve(accessKey === 'ann' ? { ...ann, principal } : undefined),
      },
      ...(options.signatureV2 && { signatureV2: options.signatureV2 }),
    }),
  });
  const post = (
    fields: Readonly<Record<string, string>>,
    sent: { readonly content: string | Buffer; readonly filename?: string } | null = file,
    more: { readonly headers?: Record<string, string>; readonly after?: string; readonly path?: string } = {},
  ): Promise<Reply> =>
    test.call('POST', more.path ?? '/bucket', {
      headers: { ...formHeaders, ...more.headers },
      body: formBody(fields, sent ?? undefined, more.after),
    });
  return { ...test, post };
}

const signed = (
  fields: Readonly<Record<string, string>> = {},
  options: Parameters<typeof signedFields>[2] = {},
): Record<string, string> => signedFields({ key: 'key', ...fields }, ann, options);

const fieldAfter = '--form-boundary\r\nContent-Disposition: form-data; name="submit"\r\n\r\nUpload\r\n';

describe('a form', () => {
  it('may have a field with the name of a property of every object', async () => {
    const { post } = await withForms();
    expect(await post(signed({ constructor: 'x' }))).toMatchObject({ status: 204 });
  });

  it('stores its file', async () => {
    const { post, call } = await withForms();
    const answer = await post(signed());
    expect(answer).toMatchObject({
      status: 204,
      body: '',
      headers: { etag: '"5d41402abc4b2a76b9719d911017c592"', location: 'https://test/bucket/key' },
    });
    expect(await call('GET', '/bucket/key')).toMatchObject({
      body: 'hello',
      headers: { 'content-type': 'binary/octet-stream' },
    });
  });

  it.each([0, 1, 200_000, 1_000_000])('stores %i bytes, with fields after them', async (size) => {
    const { post, layer } = await withForms();
    expect(await post(signed(), { content: Buffer.alloc(size, 'a') }, { after: fieldAfter })).toMatchObject({
      status: 204,
    });
    expect(await layer.headObject('bucket', 'key')).toMatchObject({ size });
  });

  it('stores what its fields say of the object', async () => {
    const { post, call } = await withForms();
    const described = {
      'Content-Type': 'text/plain',
      'Cache-Control': 'no-store',
      'Content-Disposition': 'attachment',
      'x-amz-meta-Color': 'blé',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-checksum-crc32': 'NhCmhg==',
      'x-amz-checksum-algorithm': 'CRC32',
      'x-amz-website-redirect-location': '/other',
      'Content-MD5': 'XUFAKrxLKna5cZ2REBfFkg==',
      acl: 'private',
      tagging: '<Tagging><TagSet><Tag><Key>a</Key><Value>b + c=d</Value></Tag></TagSet></Tagging>',
    };
    expect(await post(signed(described))).toMatchObject({
      status: 204,
      headers: { 'x-amz-server-side-encryption': 'AES256', 'x-amz-checksum-crc32': 'NhCmhg==' },
    });
    expect(
      (await call('HEAD', '/bucket/key', { headers: { 'x-amz-checksum-mode': 'ENABLED' } })).headers,
    ).toMatchObject({
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'content-disposition': 'attachment',
      'x-amz-meta-color': '=?UTF-8?B?YmzDqQ==?=',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-checksum-crc32': 'NhCmhg==',
      'x-amz-website-redirect-location': '/other',
    });
    expect((await call('GET', '/bucket/key?tagging')).body).toContain('<Value>b + c=d</Value>');
  });

  it('locks its object', async () => {
    const { post, call, layer } = await withForms();
    await layer.createBucket('locked', { location: '', objectLock: true });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const lock = { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': until };
    const put = (more: Record<string, string>) =>
      post(signed({ ...lock, ...more }, { bucket: 'locked' }), file, { path: '/locked' });
    expect(await put({})).toMatchObject({ status: 204 });
    expect(await put({ 'x-amz-checksum-crc32': 'NhCmhg==' })).toMatchObject({ status: 204 });
    expect((await call('GET', '/locked/key?retention')).body).toContain('GOVERNANCE');
  });

  it.each([
    ['user/${filename}', 'photo.jpg', 'user/photo.jpg'],
    ['${filename}', 'C:\\dir\\photo.jpg', 'photo.jpg'],
    ['${filename}', '/home/ann/$& photo.jpg', '$& photo.jpg'],
    ['a-${filename}-${filename}', 'b', 'a-b-b'],
    ['a${filename}', '', 'a'],
    ['a${filename}', undefined, 'a${filename}'],
  ])('replaces the variable of %s by %s', async (key, filename, expected) => {
    const { post, layer } = await withForms();
    const fields = signed(
      { key, 'x-amz-meta-name': '${filename}' },
      {
        conditions: [
          ['starts-with', '$key', ''],
          ['starts-with', '$x-amz-meta-name', ''],
        ],
      },
    );
    const sent = { content: 'x', ...(filename !== undefined && { filename }) };
    expect(await post(fields, sent)).toMatchObject({ status: 204 });
    expect((await layer.headObject('bucket', expected)).key).toBe(expected);
  });

  it.each([
    [{}, 204],
    [{ success_action_status: '200' }, 200],
    [{ success_action_status: '204' }, 204],
    [{ success_action_status: '404' }, 204],
    [{ success_action_redirect: '/relative' }, 204],
    [{ success_action_redirect: 'javascript:alert(1)' }, 204],
    [{ success_action_redirect: 'data:text/html,x' }, 204],
  ])('is answered as %j asks for: %i', async (fields, status) => {
    const { post } = await withForms();
    const answer = await post(signed(fields));
    expect([answer.status, answer.body, answer.headers['location']]).toEqual([status, '', 'https://test/bucket/key']);
  });

  it('is answered with a document for the status 201', async () => {
    const { post } = await withForms();
    const answer = await post(signed({ key: 'é/a b&c', success_action_status: '201' }));
    const location = 'https://test/bucket/%C3%A9%2Fa%20b%26c';
    expect(answer).toMatchObject({ status: 201, headers: { location, 'content-type': 'application/xml' } });
    expect(answer.body).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${location}</Location><Bucket>bucket</Bucket>` +
        '<Key>é/a b&amp;c</Key><ETag>&quot;5d41402abc4b2a76b9719d911017c592&quot;</ETag></PostResponse>',
    );
  });

  it.each([
    ['http://app.example', 'http://app.example/?'],
    ['https://app.example/done?a=b%20c', 'https://app.example/done?a=b%20c&'],
    ['https://app.example/done#part', 'https://app.example/done?', '#part'],
  ])('sends the browser to %s', async (address, before, after = '') => {
    const { post } = await withForms();
    const { status, headers } = await post(signed({ key: 'a/b c', success_action_redirect: address }));
    expect([status, headers['location']]).toEqual([
      303,
      `${before}bucket=bucket&key=a%2Fb+c&etag=%225d41402abc4b2a76b9719d911017c592%22${after}`,
    ]);
  });

  it('names the host of its bucket', async () => {
    const { post } = await withForms({ domains: ['s3.example'] });
    const headers = { host: 'bucket.s3.example' };
    const answer = await post(signed({ key: 'a/b' }), file, { path: '/', headers });
    expect(answer).toMatchObject({ status: 204, headers: { location: 'https://bucket.s3.example/a%2Fb' } });
  });

  it('may be signed by version 2, unless the setting refuses that', async () => {
    const fields = signedFieldsV2({ key: 'key' }, ann);
    expect(await (await withForms()).post(fields)).toMatchObject({ status: 204 });
    expect(await (await withForms({ signatureV2: 'off' })).post(fields)).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
    });
  });

  it('may be anonymous where a policy allows it', async () => {
    const asked: AccessRequest[] = [];
    const { post } = await withForms({
      authorize(request) {
        asked.push(request);
        return request.action === 's3:PutObject' && request.resource === 'bucket/key';
      },
    });
    expect(await post({ key: 'key', 'x-amz-meta-a': 'b' })).toMatchObject({ status: 204 });
    expect(asked[0]?.principal).toEqual({ kind: 'anonymous' });
    expect(asked[0]?.context).toMatchObject({ 's3:x-amz-meta-a': ['b'] });
    expect(asked[0]?.context).not.toHaveProperty('s3:authType');
    expect(await post({ key: 'other' })).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it('may come with the header signature of its sender', async () => {
    const { post } = await withForms();
    const headers = { authorization: 'signed' };
    expect(await post({ key: 'key' }, file, { headers })).toMatchObject({ status: 204 });
    expect(await post(signed(), file, { headers })).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });

  it('is authorized with the condition keys of its fields', async () => {
    const asked: AccessRequest[] = [];
    const { post } = await withForms({
      authorize(request) {
        asked.push(request);
        return true;
      },
    });
    const tagging = '<Tagging><TagSet><Tag><Key>team</Key><Value>a</Value></Tag></TagSet></Tagging>';
    expect(await post(signed({ tagging, 'x-amz-server-side-encryption': 'AES256' }))).toMatchObject({ status: 204 });
    const final = asked.find(({ action, unknown }) => action === 's3:PutObject' && unknown === undefined);
    expect(final).toMatchObject({
      principal,
      resource: 'bucket/key',
      context: {
        's3:authType': ['POST'],
        's3:signatureversion': ['AWS4-HMAC-SHA256'],
        's3:signatureAge': [expect.stringMatching(/^\d{1,5}$/)],
        's3:x-amz-content-sha256': ['UNSIGNED-PAYLOAD'],
        's3:x-amz-server-side-encryption': ['AES256'],
        's3:requestobjecttag/team': ['a'],
      },
    });
    expect(asked.some(({ action }) => action === 's3:PutObjectTagging')).toBe(true);
  });
});

/** A form that is right but for one thing. */
const refusals: readonly (readonly [
  what: string,
  fields: Readonly<Record<string, string>>,
  status: number,
  code: string,
  message: RegExp,
])[] = [
  [
    'no key',
    signedFields({}, ann),
    400,
    'InvalidArgument',
    /^Bucket POST must contain a field named 'key'\. {2}If it is/,
  ],
  ['an empty key', signed({ key: '' }), 400, 'InvalidArgument', /field named 'key'/],
  ['a key that is too long', signed({ key: 'a'.repeat(1_025) }), 400, 'KeyTooLongError', /1025 bytes/],
  ['no policy', without(signed(), 'policy'), 400, 'InvalidArgument', /field named 'policy'/],
  ['no signature', without(signed(), 'x-amz-signature'), 400, 'InvalidArgument', /field named 'X-Amz-Signature'/],
  ['no credential', without(signed(), 'x-amz-credential'), 400, 'InvalidArgument', /field named 'X-Amz-Credential'/],
  ['no date', without(signed(), 'x-amz-date'), 400, 'InvalidArgument', /field named 'X-Amz-Date'/],
  ['no algorithm', without(signed(), 'x-amz-algorithm'), 400, 'InvalidArgument', /field named 'X-Amz-Algorithm'/],
  ['another algorithm', { ...signed(), 'x-amz-algorithm': 'AWS4' }, 400, 'InvalidArgument', /only supports/],
  ['a malformed credential', { ...signed(), 'x-amz-credential': 'ann' }, 400, 'InvalidArgument', /credential/],
  ['a malformed date', { ...signed(), 'x-amz-date': 'today' }, 400, 'InvalidArgument', /ISO8601/],
  ['another day', { ...signed(), 'x-amz-date': '20200101T000000Z' }, 400, 'InvalidArgument', /not the day/],
  [
    'no version 2 key',
    without(signedFieldsV2({ key: 'key' }, ann), 'AWSAccessKeyId'),
    400,
    'InvalidArgument',
    /AWSAccessKeyId/,
  ],
  ['a wrong signature', { ...signed(), 'x-amz-signature': '0'.repeat(64) }, 403, 'SignatureDoesNotMatch', /signature/],
  [
    'a truncated policy',
    { ...signed(), policy: signed()['policy']?.slice(0, -2) ?? '' },
    403,
    'SignatureDoesNotMatch',
    /signature/,
  ],
  [
    'an unknown key',
    signedFields({ key: 'key' }, { ...ann, accessKey: 'bob' }),
    403,
    'InvalidAccessKeyId',
    /access key/i,
  ],
  [
    'a wrong version 2 signature',
    { ...signedFieldsV2({ key: 'key' }, ann), signature: 'AAAA' },
    403,
    'SignatureDoesNotMatch',
    /signature/,
  ],
  [
    'a token that is not asked for',
    signedFields({ key: 'key' }, { ...ann, sessionToken: 't' }),
    403,
    'InvalidTokenId',
    /token/,
  ],
  [
    'a signature from next week',
    signed({}, { now: new Date(Date.now() + 3_600_000) }),
    403,
    'AccessDenied',
    /not valid before/,
  ],
  [
    'a signature of last week',
    signed({}, { now: new Date(Date.now() - 8 * 86_400_000), expires: 10 ** 7 }),
    403,
    'AccessDenied',
    /expired/,
  ],
  [
    'an expired policy',
    signed({}, { expires: -1 }),
    403,
    'AccessDenied',
    /^Invalid according to Policy: Policy expired\.$/,
  ],
  [
    'a policy of another bucket',
    signed({}, { bucket: 'others' }),
    403,
    'AccessDenied',
    /Condition failed: \["eq", "\$bucket", "others"\]$/,
  ],
  [
    'another key than the policy says',
    { ...signed(), key: 'other' },
    403,
    'AccessDenied',
    /Condition failed: \["eq", "\$key", "key"\]$/,
  ],
  [
    'a field that the policy does not name',
    { ...signed(), acl: 'private' },
    403,
    'AccessDenied',
    /^Invalid according to Policy: Extra input fields: acl$/,
  ],
  ['a policy that is no JSON', policyOf('not json'), 400, 'InvalidPolicyDocument', /^Invalid Policy: Invalid JSON\.$/],
  [
    'a file that is too large',
    signed({}, { conditions: [['content-length-range', 0, 4]] }),
    400,
    'EntityTooLarge',
    /exceeds the maximum/,
  ],
  [
    'a file that is too small',
    signed({}, { conditions: [['content-length-range', 6, 9]] }),
    400,
    'EntityTooSmall',
    /smaller than the minimum/,
  ],
  ['an ACL that does not exist', signed({ acl: 'publik-read' }), 400, 'InvalidArgument', /ACL/],
  [
    'a grant',
    signed({ 'x-amz-grant-read': `id=${'a'.repeat(64)}` }),
    400,
    'AccessControlListNotSupported',
    /ACL|grant/,
  ],
  ['an unknown storage class', signed({ 'x-amz-storage-class': 'ICE' }), 400, 'InvalidStorageClass', /ICE/],
  ['a wrong checksum', signed({ 'x-amz-checksum-crc32': 'AAAAAA==' }), 400, 'BadDigest', /CRC32/],
  ['a checksum that is none', signed({ 'x-amz-checksum-sha256': 'sailorjerry' }), 400, 'InvalidRequest', /sha256/],
  [
    'an algorithm without its checksum',
    signed({ 'x-amz-checksum-algorithm': 'CRC32' }),
    400,
    'InvalidRequest',
    /checksum/,
  ],
  ['a wrong MD5', signed({ 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }), 400, 'BadDigest', /MD5/],
  ['tags that are no XML', signed({ tagging: 'not-xml' }), 400, 'MalformedXML', /XML/],
  ['too many tags', signed({ tagging: tags(11) }), 400, 'BadRequest', /10/],
  ['a condition that does not hold', signed({ 'if-match': 'abc' }), 404, 'NoSuchKey', /key/],
  ['a checksum that S3 adds later', signed({ 'x-amz-checksum-new': 'a' }), 501, 'NotImplemented', /x-amz-checksum-new/],
  ['metadata of more than 2 KiB', signed({ 'x-amz-meta-a': 'a'.repeat(2_049) }), 400, 'MetadataTooLarge', /metadata/],
  ['control characters', signed({ 'Content-Type': 'a\u0001b' }), 400, 'InvalidArgument', /control characters/],
  ['a name that no header has', signed({ 'x-amz-meta-a b': 'c' }), 400, 'InvalidArgument', /name of a header/],
  [
    'a retention without a lock',
    signed({ 'x-amz-object-lock-legal-hold': 'ON', 'x-amz-checksum-crc32': 'NhCmhg==' }),
    400,
    'InvalidRequest',
    /[Ll]ock/,
  ],
];

function without(fields: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
}

function policyOf(text: string): Record<string, string> {
  const policy = Buffer.from(text).toString('base64');
  const signature = createHmac('sha1', ann.secretKey).update(policy).digest('base64');
  return { key: 'key', AWSAccessKeyId: 'ann', policy, signature };
}

function tags(count: number): string {
  const each = Array.from({ length: count }, (_, at) => `<Tag><Key>${at}</Key><Value/></Tag>`).join('');
  return `<Tagging><TagSet>${each}</TagSet></Tagging>`;
}

describe('a form that breaks one rule', () => {
  it.each(refusals)('is refused, and stores nothing: %s', async (_, fields, status, code, message) => {
    const { post, layer, blobs } = await withForms();
    for (const content of ['hello', Buffer.alloc(300_000, 'a')]) {
      if (content.length > 5 && /BadDigest|EntityTooSmall/.test(code)) continue;
      const answer = await post(fields, { content, filename: 'a.txt' });
      expect([answer.status, answer.code]).toEqual([status, code]);
      expect(answer.body).toMatch(message);
    }
    expect(
      (await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 })).objects,
    ).toEqual([]);
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('says which sizes are allowed', async () => {
    const { post } = await withForms();
    const range = signed({}, { conditions: [['content-length-range', 6, 9]] });
    expect((await post(range)).refusal).toContain('<ProposedSize>5</ProposedSize><MinSizeAllowed>6</MinSizeAllowed>');
    expect((await post(range, { content: '0123456789' })).refusal).toContain(
      '<ProposedSize>10</ProposedSize><MaxSizeAllowed>9</MaxSizeAllowed>',
    );
    for (const content of ['012345', '012345678'])
      expect(await post(range, { content })).toMatchObject({ status: 204 });
  });

  it.each([
    ['no file', null, {}, 'InvalidArgument', 400],
    ['another content type', file, { headers: { 'content-type': 'text/html' } }, 'PreconditionFailed', 412],
    ['no boundary', file, { headers: { 'content-type': 'multipart/form-data' } }, 'MalformedPOSTRequest', 400],
    [
      'another boundary',
      file,
      { headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      'MalformedPOSTRequest',
      400,
    ],
    ['no length', file, { headers: { 'content-length': 'none' } }, 'MissingContentLength', 411],
    ['a header of PutObject', file, { headers: { 'x-amz-acl': 'public-read' } }, 'AccessControlListNotSupported', 400],
    ['a condition of the request', file, { headers: { 'if-none-match': '*' } }, 'NotImplemented', 501],
    [
      'a digest of the request',
      file,
      { headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } },
      'NotImplemented',
      501,
    ],
    [
      'a second file',
      file,
      { after: fieldAfter.replace('submit', 'file') },
      'IncorrectNumberOfFilesInPostRequest',
      400,
    ],
  ])('is refused with %s', async (_, sent, more, code, status) => {
    const { post, layer, blobs } = await withForms();
    for (const content of sent === null ? [null] : [sent.content, Buffer.alloc(300_000)]) {
      const answer = await post(signed(), content === null ? null : { content }, more);
      expect([answer.status, answer.code]).toEqual([status, code]);
    }
    expect(
      (await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 })).objects,
    ).toEqual([]);
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });
});

const chunks = (fields: Readonly<Record<string, string>>) => {
  const whole = formBody(fields, { content: Buffer.alloc(1_000_000, 'a') });
  return Array.from({ length: Math.ceil(whole.length / 10_000) }, (_, at) =>
    whole.subarray(at * 10_000, at * 10_000 + 10_000),
  );
};

describe('the file of a form', () => {
  it.each([
    ['a wrong signature', { ...signed(), 'x-amz-signature': '0'.repeat(64) }],
    ['a policy that fails', { ...signed(), acl: 'private' }],
    ['a header of PutObject that is refused', signed({ acl: 'publik-read' })],
    ['a limit that is far too small', signed({}, { conditions: [['content-length-range', 0, 1_000]] })],
    ['no bucket', signed({}, { bucket: 'absent' })],
  ])('is not read with %s', async (what, fields) => {
    const { call } = await withForms();
    const path = what === 'no bucket' ? '/absent' : '/bucket';
    const answer = await call('POST', path, { headers: formHeaders, body: chunks(fields) });
    expect(answer.code).toBeDefined();
    expect(answer.bytesRead).toBeLessThanOrEqual(20_000);
  });

  it('is not read for a caller who may not put it', async () => {
    const { call } = await withForms({ authorize: () => false });
    for (const path of ['/bucket', '/absent']) {
      const fields = signed({ tagging: 'not-xml' }, { bucket: path.slice(1) });
      const answer = await call('POST', path, { headers: formHeaders, body: chunks(fields) });
      expect(answer).toMatchObject({ status: 403, code: 'AccessDenied' });
      expect(answer.bytesRead).toBeLessThanOrEqual(20_000);
    }
  });
});
