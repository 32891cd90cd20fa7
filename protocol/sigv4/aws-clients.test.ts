import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { parseAuthorization } from './parse-authorization.ts';
import { presignUrl, signRequest } from './sign-request.ts';
import { SigningKeys } from './signing-key.ts';
import { type SignedRequest } from './signed-request.ts';
import { verifySignature } from './verify-signature.ts';

const credentials = { accessKey: 'AKIDEXAMPLE', secretKey: 'secret-key/+', sessionToken: 'token+/=' };
const awsCredentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-key/+', sessionToken: 'token+/=' };
const signingKeys = new SigningKeys(4);

function verify(request: SignedRequest, now = new Date()): string | undefined {
  const claim = parseAuthorization(request);
  if (claim === undefined || claim.kind === 'version-2') throw new Error('not signed by version 4');
  verifySignature(request, claim, credentials.secretKey, { now, region: 'eu-west-1', services: ['s3'], signingKeys });
  return claim.sessionToken;
}

function requestOf(url: URL, method = 'GET', headers: Record<string, string> = {}): SignedRequest {
  return { method, rawPath: url.pathname, rawQuery: url.search.slice(1), headers: { host: url.host, ...headers } };
}

const nastyKeys = ['a b', 'a+b', "a'(b)!*", 'ü/ключ/🙂', 'a%2Fb', '~._-', 'a=b&c', 'a//b', 'q?x#y', '@:,;$'];

/** What the AWS client would send. */
async function captured(command: PutObjectCommand | GetObjectCommand | ListObjectsV2Command): Promise<SignedRequest> {
  interface AwsRequest {
    readonly method: string;
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
    readonly headers: Readonly<Record<string, string>>;
  }
  let sent: AwsRequest | undefined;
  const client = new S3Client({
    endpoint: 'http://127.0.0.1:9000',
    forcePathStyle: true,
    region: 'eu-west-1',
    credentials: awsCredentials,
    maxAttempts: 1,
    requestHandler: {
      handle: async (request: AwsRequest) => {
        sent = request;
        throw new Error('seen enough');
      },
    },
  });
  await client.send(command as GetObjectCommand).catch(() => undefined);
  if (sent === undefined) throw new Error('nothing was sent');
  // As the client's own HTTP handler writes it.
  const rawQuery = Object.entries(sent.query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  const headers = Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method: sent.method, rawPath: sent.path, rawQuery, headers };
}

describe('requests of the AWS client for JavaScript', () => {
  it.each(nastyKeys)('verify for the key %j', async (Key) => {
    expect(verify(await captured(new GetObjectCommand({ Bucket: 'bucket', Key })))).toBe(credentials.sessionToken);
  });

  it('verify with metadata, and with a query', async () => {
    const Metadata = { colour: '  light   blue ' };
    verify(
      await captured(
        new PutObjectCommand({ Bucket: 'bucket', Key: 'k', Body: 'x', Metadata, ContentType: 'text/plain' }),
      ),
    );
    verify(
      await captured(new ListObjectsV2Command({ Bucket: 'bucket', Prefix: "a b+c/ü'*", Delimiter: '/', MaxKeys: 7 })),
    );
  });

  it.each(nastyKeys)('verify presigned for the key %j', async (Key) => {
    const client = new S3Client({
      endpoint: 'http://127.0.0.1:9000',
      forcePathStyle: true,
      region: 'eu-west-1',
      credentials: awsCredentials,
    });
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'bucket', Key }), { expiresIn: 60 });
    verify(requestOf(new URL(url)));
  });
});

describe('our own signatures', () => {
  const signing = {
    region: 'eu-west-1',
    service: 's3',
    now: new Date('2024-05-06T07:08:09Z'),
    payloadHash: 'UNSIGNED-PAYLOAD',
  };

  it('verify, whatever is in path, query and headers', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '/', ' ', '+', '%', '&', '=', 'ü', '~', '*', '2', 'F'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        text,
        fc.dictionary(text, text, { maxKeys: 4 }),
        fc.string({ maxLength: 20 }),
        (key, query, value) => {
          const request: SignedRequest = {
            method: 'PUT',
            rawPath: `/b/${encodeURIComponent(key)}`,
            rawQuery: Object.entries(query)
              .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
              .join('&'),
            headers: { host: 'h:9000', 'x-amz-meta-a': value },
          };
          const headers = { ...request.headers, ...signRequest(request, credentials, signing) };
          expect(verify({ ...request, headers }, signing.now)).toBe(credentials.sessionToken);
        },
      ),
    );
  });

  it('leave proxies the headers that they change', () => {
    const request = {
      method: 'GET',
      rawPath: '/',
      rawQuery: '',
      headers: { host: 'h', 'user-agent': 'x', expect: 'y' },
    };
    expect(signRequest(request, credentials, signing)['authorization']).not.toMatch(/user-agent|expect/);
  });

  it('presign URLs that verify until they expire', () => {
    const url = presignUrl(new URL('http://h:9000/b/a%20b?versionId=x+y'), credentials, { ...signing, expires: 60 });
    expect(verify(requestOf(url), new Date('2024-05-06T07:09:09Z'))).toBe(credentials.sessionToken);
    expect(() => verify(requestOf(url), new Date('2024-05-06T07:09:10Z'))).toThrow('expired');
    expect(() => verify(requestOf(url, 'PUT'), signing.now)).toThrow(S3Error);
  });
});

describe('other clients', () => {
  const signing = {
    region: 'eu-west-1',
    service: 's3',
    now: new Date('2024-05-06T07:08:09Z'),
    payloadHash: 'UNSIGNED-PAYLOAD',
  };

  function signed(request: SignedRequest): SignedRequest {
    return { ...request, headers: { ...request.headers, ...signRequest(request, credentials, signing) } };
  }

  it('may sign a repeated header joined without a space, where it arrives with one', () => {
    const request = signed({
      method: 'GET',
      rawPath: '/',
      rawQuery: '',
      headers: { host: 'h', 'x-amz-meta-a': '1,2' },
    });
    verify({ ...request, headers: { ...request.headers, 'x-amz-meta-a': '1, 2' } }, signing.now);
  });

  it('may leave characters as they are that others encode', () => {
    const request = signed({
      method: 'GET',
      rawPath: "/b/a!'()*+b",
      rawQuery: 'acl&prefix=a+b',
      headers: { host: 'h' },
    });
    verify(request, signing.now);
    verify({ ...request, rawPath: '/b/a%21%27%28%29%2a%2Bb', rawQuery: 'prefix=a%20b&acl=' }, signing.now);
  });
});
