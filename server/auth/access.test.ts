import { createHash, createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { canonicalHeaders, hashCanonicalRequest } from '../../protocol/sigv4/canonical-request.ts';
import { presignUrl, signRequest } from '../../protocol/sigv4/sign-request.ts';
import { computeSignature } from '../../protocol/sigv4/signature.ts';
import { formatScope, SigningKeys } from '../../protocol/sigv4/signing-key.ts';
import { createAuthenticator, type AuthenticatorOptions } from './access.ts';
import type { IncomingRequest } from '../http/contract/request.ts';
import { federated } from '../../test/support/auth/identities.ts';
import type { StoredCredentials, TemporaryPrincipal } from './principal.ts';
import { bodyFrom, type BodySource, chunksOf } from '../objects/contract/body-source.ts';

const now = new Date('2026-03-04T05:06:07Z');
const root: StoredCredentials = {
  accessKey: 'root',
  secretKey: 'root-password',
  principal: { kind: 'root', accessKey: 'root' },
};
const ann: TemporaryPrincipal = {
  kind: 'temporary',
  accessKey: 'TEMPORARY0ACCESS0KEY',
  subject: federated(),
  expiration: new Date('2026-03-05T00:00:00Z'),
};
const temporary: StoredCredentials & { sessionToken: string } = {
  accessKey: ann.accessKey,
  secretKey: 'temporary-secret',
  sessionToken: 'session-token',
  principal: ann,
};

const authenticate = (options: Partial<AuthenticatorOptions> = {}) =>
  createAuthenticator({
    credentials: {
      credentials: (accessKey) => Promise.resolve([root, temporary].find((known) => known.accessKey === accessKey)),
      issuedButExpired: (_accessKey, token) => Promise.resolve(token === 'old-token'),
    },
    clock: () => now,
    ...options,
  });

const hex = (body: string) => createHash('sha256').update(body).digest('hex');

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

function incoming({
  method = 'GET',
  path = '/bucket/key',
  query = '',
  body = '',
  headers = {},
}: Call): IncomingRequest {
  return {
    requestId: 'R',
    method,
    rawPath: path,
    rawQuery: query,
    headers: { host: 's3.example', ...(body === '' ? {} : { 'content-length': String(body.length) }), ...headers },
    body: bodyFrom(Readable.from(body === '' ? [] : [Buffer.from(body)])),
    secure: false,
    remoteAddress: '127.0.0.1',
  };
}

/** A request that is signed over `payloadHash` and does not send it. */
function signedWithoutHash(call: Call, payloadHash: string): IncomingRequest {
  const request = incoming(call);
  const scope = { date: '20260304', region: 'us-east-1', service: 's3' };
  const headers: Record<string, string> = { ...call.headers, host: 's3.example', 'x-amz-date': '20260304T050607Z' };
  const signedHeaders = ['host', 'x-amz-date'];
  const parts = {
    method: request.method,
    path: request.rawPath,
    query: '',
    headerLines: canonicalHeaders(headers, signedHeaders),
    signedHeaders,
    payloadHash,
  };
  const key = new SigningKeys().get(root.secretKey, scope);
  const signature = computeSignature(key, headers['x-amz-date'] ?? '', scope, hashCanonicalRequest(parts));
  const credential = `${root.accessKey}/${formatScope(scope)}`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`;
  return { ...request, headers: { ...headers, authorization } };
}

function signed(
  credentials: { accessKey: string; secretKey: string; sessionToken?: string },
  call: Call = {},
  signing: { region?: string; service?: string; payloadHash?: string } = {},
): IncomingRequest {
  const request = incoming(call);
  const headers = signRequest(request, credentials, {
    region: 'us-east-1',
    service: 's3',
    now,
    payloadHash: hex(call.body ?? ''),
    ...signing,
  });
  return { ...request, headers: { ...request.headers, ...headers } };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof S3Error)) throw new Error(`not refused by an S3Error but ${String(error)}`);
  return error.code;
}

async function textOf(body: BodySource): Promise<string> {
  let text = '';
  for await (const bytes of chunksOf(body)) text += bytes.toString();
  return text;
}

const crc = 'x-amz-checksum-crc32:NhCmhg==\r\n';
const streaming = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const presigned = (body: string, more: { query?: string; payloadHash?: string; headers?: Call['headers'] } = {}) => {
  const { pathname, search } = presignUrl(new URL(`http://s3.example/bucket/key${more.query ?? ''}`), root, {
    region: 'us-east-1',
    service: 's3',
    now,
    expires: 60,
    method: 'PUT',
    ...(more.payloadHash === undefined ? {} : { payloadHash: more.payloadHash }),
  });
  const headers = { 'content-length': String(body.length), ...more.headers };
  return authenticate()(incoming({ method: 'PUT', path: pathname, query: search.slice(1), body, headers }));
};

const sentWith = (headers: Record<string, string>, trailer: string, payloadHash: string) =>
  authenticate()(
    signed(
      root,
      { method: 'PUT', body: chunksWith(trailer), headers: { 'x-amz-decoded-content-length': '5', ...headers } },
      { payloadHash },
    ),
  );
const chunksWith = (trailer: string) => `5\r\nhello\r\n0\r\n${trailer}\r\n`;

describe('createAuthenticator', () => {
  it('knows root by its signature', async () => {
    expect((await authenticate()(signed(root))).principal).toEqual(root.principal);
  });

  it('takes a request without a signature as anonymous', async () => {
    expect((await authenticate()(incoming({}))).principal).toEqual({ kind: 'anonymous' });
  });

  it('refuses a wrong secret', async () => {
    const wrong = { ...root, secretKey: 'wrong' };
    expect(await codeOf(authenticate()(signed(wrong)))).toBe('SignatureDoesNotMatch');
  });

  it('refuses an unknown access key', async () => {
    expect(await codeOf(authenticate()(signed({ accessKey: 'nobody', secretKey: 'x' })))).toBe('InvalidAccessKeyId');
  });

  it('refuses a signature for a quarter of an hour ago', async () => {
    const later = authenticate({ clock: () => new Date(now.getTime() + 16 * 60_000) });
    expect(await codeOf(later(signed(root)))).toBe('RequestTimeTooSkewed');
  });

  it('fails closed when credentials cannot be read', async () => {
    const broken = authenticate({ credentials: { credentials: () => Promise.reject(new Error('disk')) } });
    await expect(broken(signed(root))).rejects.toThrow('disk');
  });

  describe('with temporary credentials', () => {
    it('takes them with their session token', async () => {
      expect((await authenticate()(signed(temporary))).principal).toBe(ann);
    });

    it('refuses them without it', async () => {
      const { accessKey, secretKey } = temporary;
      expect(await codeOf(authenticate()(signed({ accessKey, secretKey })))).toBe('InvalidTokenId');
    });

    it.each(['', 'session-toke', 'session-token2', 'old-token'])('refuses them with the token "%s"', async (token) => {
      expect(await codeOf(authenticate()(signed({ ...temporary, sessionToken: token })))).toBe('InvalidTokenId');
    });

    it('refuses a session token with credentials that have none', async () => {
      expect(await codeOf(authenticate()(signed({ ...root, sessionToken: 'session-token' })))).toBe('InvalidTokenId');
    });

    it('tells that they have expired, so that SDKs fetch new ones', async () => {
      const gone = { accessKey: 'GONE', secretKey: 'x', sessionToken: 'old-token' };
      expect(await codeOf(authenticate()(signed(gone)))).toBe('ExpiredToken');
      const unknown = { ...gone, sessionToken: 'made up' };
      expect(await codeOf(authenticate()(signed(unknown)))).toBe('InvalidAccessKeyId');
    });

    it('takes a presigned URL with its session token', async () => {
      const url = presignUrl(new URL('http://s3.example/bucket/key'), temporary, {
        region: 'us-east-1',
        service: 's3',
        now,
        expires: 60,
      });
      const request = incoming({ path: url.pathname, query: url.search.slice(1) });
      expect((await authenticate()(request)).principal).toBe(ann);
    });
  });

  describe('and the region', () => {
    it('takes any where none is set', async () => {
      await authenticate()(signed(root, {}, { region: 'mars-1' }));
    });

    it('refuses another than the one that is set', async () => {
      const strict = authenticate({ region: 'eu-west-1' });
      expect(await codeOf(strict(signed(root)))).toBe('AuthorizationHeaderMalformed');
      await strict(signed(root, {}, { region: 'eu-west-1' }));
    });

    it('lets clients ask for it', async () => {
      await authenticate({ region: 'eu-west-1' })(signed(root, { path: '/bucket', query: 'location=' }));
    });

    it('may be empty for admin calls alone', async () => {
      await authenticate()(signed(root, { path: '/minio/admin/v3/info' }, { region: '' }));
      expect(await codeOf(authenticate()(signed(root, {}, { region: '' })))).toBe('AuthorizationHeaderMalformed');
    });

    it('refuses a signature for another service', async () => {
      expect(await codeOf(authenticate()(signed(root, {}, { service: 'sts' })))).toBe('AuthorizationHeaderMalformed');
    });
  });

  describe('and the body', () => {
    const put = { method: 'PUT', body: 'hello' };

    it('passes on what was signed', async () => {
      const { body, size } = await authenticate()(signed(root, put));
      expect([await textOf(body), size]).toEqual(['hello', 5]);
    });

    it('fails at the end of a body that is not the signed one', async () => {
      const request = signed(root, put);
      const swapped = { ...request, body: bodyFrom(Readable.from([Buffer.from('HELLO')])) };
      const { body } = await authenticate()(swapped);
      expect(await codeOf(textOf(body))).toBe('XAmzContentSHA256Mismatch');
    });

    describe('of a presigned URL', () => {
      it('must have the hash that the query says', async () => {
        const right = await presigned('hello', { payloadHash: hex('hello') });
        expect(await textOf(right.body)).toBe('hello');
        const wrong = await presigned('HELLO', { payloadHash: hex('hello') });
        expect(await codeOf(textOf(wrong.body))).toBe('XAmzContentSHA256Mismatch');
      });

      it('may be any where the query says nothing', async () => {
        expect(await textOf((await presigned('HELLO')).body)).toBe('HELLO');
      });

      it('is refused where a header says another hash', async () => {
        const headers = { 'x-amz-content-sha256': hex('HELLO') };
        const rejected = presigned('HELLO', { payloadHash: hex('hello'), headers });
        expect(await codeOf(rejected)).toBe('AuthorizationQueryParametersError');
      });

      it('is not taken with a hash that is not signed as one', async () => {
        const rejected = presigned('hello', { query: `?x-amz-content-sha256=${hex('hello')}` });
        expect(await codeOf(rejected)).toBe('SignatureDoesNotMatch');
      });

      it('may be no chunks that are signed by a header', async () => {
        const rejected = presigned('hello', { payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' });
        expect(await codeOf(rejected)).toBe('InvalidRequest');
      });
    });

    it('finds a wrong hash of an empty body', async () => {
      const request = signed(root, { method: 'PUT', headers: { 'content-length': '0' } }, { payloadHash: hex('x') });
      const { body, size } = await authenticate()(request);
      expect(size).toBe(0);
      expect(await codeOf(textOf(body))).toBe('XAmzContentSHA256Mismatch');
    });

    it('takes an unsigned payload as it comes', async () => {
      const { body } = await authenticate()(signed(root, put, { payloadHash: 'UNSIGNED-PAYLOAD' }));
      expect(await textOf(body)).toBe('hello');
    });

    it('fails when fewer bytes come than were declared', async () => {
      const request = signed(root, put, { payloadHash: 'UNSIGNED-PAYLOAD' });
      const { body } = await authenticate()({ ...request, body: bodyFrom(Readable.from([Buffer.from('hell')])) });
      expect(await codeOf(textOf(body))).toBe('IncompleteBody');
    });

    it('takes off unsigned chunks and hands the trailing checksum over at the end', async () => {
      const chunks = '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n';
      const headers = { 'x-amz-decoded-content-length': '5', 'x-amz-trailer': 'x-amz-checksum-crc32' };
      const request = signed(
        root,
        { method: 'PUT', body: chunks, headers },
        { payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
      );
      const { body, size, trailing } = await authenticate()(request);
      expect([await textOf(body), size]).toEqual(['hello', 5]);
      expect([trailing?.algorithm, trailing?.value()]).toEqual(['CRC32', 'NhCmhg==']);
    });

    it('takes a body that may have a trailer, and has none', async () => {
      const { body, size, trailing } = await sentWith({}, '', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER');
      expect([await textOf(body), size, trailing]).toEqual(['hello', 5, undefined]);
    });

    it('refuses chunks without a decoded length', async () => {
      const request = signed(root, put, { payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' });
      expect(await codeOf(authenticate()(request))).toBe('MissingContentLength');
    });

    describe('refuses a trailer', () => {
      it('that no x-amz-trailer announces', async () => {
        const { body } = await sentWith({}, crc, streaming);
        expect(await codeOf(textOf(body))).toBe('MalformedTrailerError');
      });

      it('that is announced for a body without trailers', async () => {
        const headers = { 'x-amz-trailer': 'x-amz-checksum-crc32' };
        expect(await codeOf(sentWith(headers, crc, 'UNSIGNED-PAYLOAD'))).toBe('MalformedTrailerError');
      });

      it.each(['x-amz-checksum-md4', 'x-amz-meta-a', 'x-amz-checksum-crc32,x-amz-checksum-sha1'])(
        'that is no checksum which is computed here: %s',
        async (name) => {
          expect(await codeOf(sentWith({ 'x-amz-trailer': name }, crc, streaming))).toBe('InvalidRequest');
        },
      );

      it('other than the announced one', async () => {
        const { body } = await sentWith({ 'x-amz-trailer': 'x-amz-checksum-crc32c' }, crc, streaming);
        expect(await codeOf(textOf(body))).toBe('MalformedTrailerError');
      });

      it('whose value is no checksum', async () => {
        const announced = { 'x-amz-trailer': 'x-amz-checksum-crc32' };
        const { body, trailing } = await sentWith(announced, 'x-amz-checksum-crc32:none\r\n', streaming);
        await textOf(body);
        expect(() => trailing?.value()).toThrow(expect.objectContaining({ code: 'InvalidRequest' }));
      });
    });

    describe('without x-amz-content-sha256', () => {
      it.each([
        ['a GET', { method: 'GET' }],
        ['a DELETE with an empty body', { method: 'DELETE', headers: { 'content-length': '0' } }],
        ['a PUT without a body', { method: 'PUT' }],
      ])('is that of no body: %s', async (_what, call: Call) => {
        const { principal, body } = await authenticate()(signedWithoutHash(call, hex('')));
        expect(principal).toMatchObject({ kind: 'root' });
        expect(await textOf(body)).toBe('');
      });

      it.each([
        ['a body with its length', { 'content-length': '5' }],
        ['a body of unknown length', { 'transfer-encoding': 'chunked' }],
        ['an unclear length', { 'content-length': '00' }],
      ])('is refused with %s, whatever was signed', async (_what, headers: Record<string, string>) => {
        for (const signedHash of [hex(''), hex('hello'), 'UNSIGNED-PAYLOAD', '']) {
          const request = signedWithoutHash({ method: 'PUT', headers }, signedHash);
          const sent = { ...request, body: bodyFrom(Readable.from([Buffer.from('hello')])) };
          expect(await codeOf(authenticate()(sent))).toBe('InvalidRequest');
        }
      });

      it.each(['UNSIGNED-PAYLOAD', '', hex('hello')])('does not verify where %j was signed', async (signedHash) => {
        expect(await codeOf(authenticate()(signedWithoutHash({}, signedHash)))).toBe('SignatureDoesNotMatch');
      });

      it('never reads bytes that follow', async () => {
        const request = signedWithoutHash({}, hex(''));
        const { body } = await authenticate()({ ...request, body: bodyFrom(Readable.from([Buffer.from('hello')])) });
        expect(await textOf(body)).toBe('');
      });
    });

    it('tells what x-amz-content-sha256 may be', async () => {
      const rejected = authenticate()(signed(root, put, { payloadHash: 'garbage' }));
      await expect(rejected).rejects.toMatchObject({
        code: 'InvalidArgument',
        details: { ArgumentName: 'x-amz-content-sha256', ArgumentValue: 'garbage' },
      });
    });

    it('refuses signed chunks of an unsigned request', async () => {
      const headers = {
        'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
        'x-amz-decoded-content-length': '5',
      };
      expect(await codeOf(authenticate()(incoming({ ...put, headers })))).toBe('InvalidRequest');
    });

    it('has no bytes and no size without a body', async () => {
      const { body, size } = await authenticate()(signed(root));
      expect([await textOf(body), size]).toEqual(['', undefined]);
    });
  });
});

const hmac = (text: string, secretKey: string) => createHmac('sha1', secretKey).update(text).digest('base64');

describe('Signature Version 2', () => {
  const expires = String(now.getTime() / 1_000 + 60);

  function presignedV2(credentials: typeof root | typeof temporary, path = '/bucket/key'): IncomingRequest {
    const token = credentials.sessionToken;
    const text = `GET\n\n\n${expires}\n${token === undefined ? '' : `x-amz-security-token:${token}\n`}${path}`;
    const own = {
      AWSAccessKeyId: credentials.accessKey,
      Expires: expires,
      Signature: hmac(text, credentials.secretKey),
    };
    const query = new URLSearchParams({ ...own, ...(token !== undefined && { 'x-amz-security-token': token }) });
    return incoming({ path, query: String(query) });
  }

  function byHeader({ accessKey, secretKey }: StoredCredentials, path = '/bucket/key'): IncomingRequest {
    const date = now.toUTCString();
    const authorization = `AWS ${accessKey}:${hmac(`GET\n\n\n${date}\n${path}`, secretKey)}`;
    return incoming({ path, headers: { date, authorization } });
  }

  const unsupported = {
    code: 'InvalidRequest',
    message: 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
  };

  it('is taken in a URL, and not in a header', async () => {
    expect(await authenticate()(presignedV2(root))).toMatchObject({ principal: root.principal });
    expect(await authenticate()(presignedV2(temporary))).toMatchObject({ principal: temporary.principal });
    await expect(authenticate()(byHeader(root))).rejects.toMatchObject(unsupported);
  });

  it('is taken in both or in none where that is set', async () => {
    const on = authenticate({ signatureV2: 'on' });
    expect(await on(byHeader(root))).toMatchObject({ principal: root.principal });
    expect(await on(presignedV2(root))).toMatchObject({ principal: root.principal });
    const off = authenticate({ signatureV2: 'off' });
    await expect(off(byHeader(root))).rejects.toMatchObject(unsupported);
    await expect(off(presignedV2(root))).rejects.toMatchObject(unsupported);
  });

  it('is never taken for the admin API', async () => {
    const on = authenticate({ signatureV2: 'on' });
    for (const request of [byHeader(root, '/minio/admin/v3/info'), presignedV2(root, '/minio/admin/v3/info')]) {
      await expect(on(request)).rejects.toMatchObject(unsupported);
    }
  });

  it('covers the bucket of the host', async () => {
    const bucket = (name: string) => ({
      ...presignedV2(root),
      rawPath: '/key',
      hostStyle: { kind: 'bucket', bucket: name },
    });
    expect(await authenticate()(bucket('bucket'))).toMatchObject({ principal: root.principal });
    await expect(authenticate()(bucket('other'))).rejects.toMatchObject({ code: 'SignatureDoesNotMatch' });
  });

  it('needs the token of temporary credentials, and known credentials', async () => {
    const { sessionToken: _, ...without } = temporary;
    await expect(authenticate()(presignedV2(without))).rejects.toMatchObject({ code: 'InvalidTokenId' });
    await expect(authenticate()(presignedV2({ ...temporary, sessionToken: 'wrong' }))).rejects.toMatchObject({
      code: 'InvalidTokenId',
    });
    await expect(authenticate()(presignedV2({ ...root, accessKey: 'nobody' }))).rejects.toMatchObject({
      code: 'InvalidAccessKeyId',
    });
    const expired = { ...temporary, accessKey: 'gone', sessionToken: 'old-token' };
    await expect(authenticate()(presignedV2(expired))).rejects.toMatchObject({ code: 'ExpiredToken' });
  });

  it('cannot sign the chunks of a body', async () => {
    const request = presignedV2(root);
    const headers = { ...request.headers, 'x-amz-decoded-content-length': '5' };
    const payload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
    await expect(authenticate()(request, { ...headers, 'x-amz-content-sha256': payload })).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  });
});

it('refuses headers of MinIO that the signature does not cover', async () => {
  const url = presignUrl(new URL('http://s3.example/bucket/key'), root, {
    region: 'us-east-1',
    service: 's3',
    now,
    expires: 60,
    method: 'DELETE',
  });
  const request = incoming({
    method: 'DELETE',
    query: url.search.slice(1),
    headers: { 'x-minio-force-delete': 'true' },
  });
  await expect(authenticate()(request)).rejects.toMatchObject({
    code: 'AccessDenied',
    details: { HeadersNotSigned: 'x-minio-force-delete' },
  });
});
