import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AssumeRoleWithWebIdentityCommand, STSClient, type Credentials } from '@aws-sdk/client-sts';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let provider: OpenIdProviderDouble;
let server: RunningServer;
let root: S3Client;

beforeAll(async () => {
  provider = await startOpenIdProvider({
    users: [
      { username: 'reader', claims: { policy: ['readonly'] } },
      { username: 'writer', claims: { policy: 'readwrite' } },
      { username: 'admin', claims: { policy: ['consoleAdmin'] } },
      { username: 'nobody' },
      { username: 'stale', claims: { policy: ['gone'] } },
    ],
  });
  server = await startServer({
    env: {
      SVC_IDENTITY_OPENID_CONFIG_URL_PRIMARY_IAM: provider.configUrl,
      SVC_IDENTITY_OPENID_CLIENT_ID_PRIMARY_IAM: 'coffer',
      SVC_IDENTITY_OPENID_CLIENT_SECRET_PRIMARY_IAM: 'coffer-secret',
    },
  });
  await untilReady(server);
  root = s3({ AccessKeyId: server.accessKey, SecretAccessKey: server.secretKey });
  await root.send(new CreateBucketCommand({ Bucket: 'reports' }));
  await root.send(new PutObjectCommand({ Bucket: 'reports', Key: 'a', Body: 'hello' }));
});
afterAll(async () => {
  root.destroy();
  await server.stop();
  await provider.close();
  // `stop` leaves a folder that was given to the second start.
  await rm(server.folder, { recursive: true, force: true });
});

function s3(credentials: Partial<Credentials>): S3Client {
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken } = credentials;
  return new S3Client({
    endpoint: server.s3,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      ...(SessionToken === undefined ? {} : { sessionToken: SessionToken }),
    },
  });
}

/** The token that an application would get by the specification's password grant. */
async function tokenOf(username: string): Promise<string> {
  const response = await fetch(`${provider.issuer}/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'coffer',
      client_secret: 'coffer-secret',
      username,
      password: `${username}-password`,
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function buy(WebIdentityToken: string, more: { Policy?: string; DurationSeconds?: number } = {}) {
  const sts = new STSClient({ endpoint: server.s3, region: 'us-east-1', maxAttempts: 1 });
  try {
    const command = new AssumeRoleWithWebIdentityCommand({
      RoleArn: 'arn:aws:iam::123456789012:role/any',
      RoleSessionName: 'test',
      WebIdentityToken,
      ...more,
    });
    const { Credentials } = await sts.send(command);
    if (Credentials === undefined) throw new Error('the answer has no credentials');
    return Credentials;
  } finally {
    sts.destroy();
  }
}

/** The code of the refusal; `ok` without one. */
async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'ok';
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

const get = (client: S3Client) => outcome(client.send(new GetObjectCommand({ Bucket: 'reports', Key: 'a' })));
const put = (client: S3Client, Bucket = 'reports') =>
  outcome(client.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'x' })));

describe('a token buys credentials that may do what its policies say and nothing else', () => {
  it('readonly reads, and neither writes, lists, deletes nor makes buckets', async () => {
    const client = s3(await buy(await tokenOf('reader')));
    expect({
      get: await get(client),
      put: await put(client),
      list: await outcome(client.send(new ListObjectsV2Command({ Bucket: 'reports' }))),
      delete: await outcome(client.send(new DeleteObjectCommand({ Bucket: 'reports', Key: 'a' }))),
      create: await outcome(client.send(new CreateBucketCommand({ Bucket: 'readers-own' }))),
    }).toEqual({
      get: 'ok',
      put: 'AccessDenied',
      list: 'AccessDenied',
      delete: 'AccessDenied',
      create: 'AccessDenied',
    });
    client.destroy();
  });

  it('readwrite does all of S3, and no administration', async () => {
    const credentials = await buy(await tokenOf('writer'));
    const client = s3(credentials);
    expect([
      await outcome(client.send(new CreateBucketCommand({ Bucket: 'writers-own' }))),
      await put(client, 'writers-own'),
      await get(client),
      await outcome(client.send(new ListBucketsCommand({}))),
    ]).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(await adminInfo(credentials)).toBe(403);
    client.destroy();
  });

  it('consoleAdmin does both', async () => {
    const credentials = await buy(await tokenOf('admin'));
    const client = s3(credentials);
    expect(await put(client)).toBe('ok');
    expect(await adminInfo(credentials)).toBe(200);
    client.destroy();
  });

  it('a session policy narrows them', async () => {
    const Statement = [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::reports/*'] }];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    const client = s3(await buy(await tokenOf('writer'), { Policy }));
    expect([await get(client), await put(client)]).toEqual(['ok', 'AccessDenied']);
    client.destroy();
  });

  it('a presigned URL of theirs does no more', async () => {
    const client = s3(await buy(await tokenOf('reader')));
    const readable = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'reports', Key: 'a' }));
    const writable = await getSignedUrl(client, new PutObjectCommand({ Bucket: 'reports', Key: 'b' }));
    expect(await (await fetch(readable)).text()).toBe('hello');
    expect((await fetch(writable, { method: 'PUT', body: 'x' })).status).toBe(403);
    client.destroy();
  });
});

/** Credentials that expire soon. On a machine that is too busy to buy them in that time they get more. */
async function boughtFor(seconds: number): ReturnType<typeof buy> {
  const exp = Math.floor(Date.now() / 1000) + seconds;
  try {
    return await buy(await provider.accessToken('writer', { exp }));
  } catch (error) {
    if ((error as Error).name !== 'ExpiredTokenException' || seconds > 10) throw error;
    return boughtFor(2 * seconds);
  }
}

describe('temporary credentials are refused', () => {
  it('without their session token, with a wrong one, or with the wrong secret', async () => {
    const { SessionToken: token, ...keys } = await buy(await tokenOf('writer'));
    const other = await buy(await tokenOf('writer'));
    const clients = [
      s3(keys),
      s3({ ...keys, SessionToken: `${token}x` }),
      s3({ ...keys, SessionToken: other.SessionToken }),
      s3({ ...keys, SessionToken: token, SecretAccessKey: other.SecretAccessKey }),
    ];
    expect(await Promise.all(clients.map(get))).toEqual([
      'InvalidTokenId',
      'InvalidTokenId',
      'InvalidTokenId',
      'SignatureDoesNotMatch',
    ]);
    for (const client of clients) client.destroy();
  });

  it('once they have expired, which tells SDKs to get new ones', async () => {
    const client = s3(await boughtFor(2));
    await expect.poll(() => get(client), { interval: 200 }).toBe('ExpiredToken');
    client.destroy();
  });
});

describe('no credentials are bought', () => {
  it.each([
    ['by an expired token', () => provider.accessToken('writer', { exp: 1_000 }), 'ExpiredTokenException', 'expired'],
    [
      'by a token for another client',
      () => provider.accessToken('writer', { azp: 'else', aud: 'else' }),
      'InvalidIdentityTokenException',
      '"else"',
    ],
    ['without the policy claim', () => tokenOf('nobody'), 'InvalidParameterValue', 'claim "policy" is missing'],
    ['by policies that are not defined', () => tokenOf('stale'), 'InvalidParameterValue', '`gone`'],
    ['by what is no token', () => Promise.resolve('no.token.here'), 'InvalidIdentityTokenException', 'JWT'],
  ])('%s, and the answer says why', async (_, token, code, text) => {
    const error = (await buy(await token()).catch((reason: unknown) => reason)) as Error;
    // The SDK knows the error by its code, and gives it the class of that name.
    expect(error.name).toBe(code);
    expect(error.message).toContain(text);
  });
});

it('goes on after a key rotation at the provider', async () => {
  await provider.keys.rotate('RS256');
  await expect.poll(async () => outcome(buy(await tokenOf('reader'))), { timeout: 60_000, interval: 500 }).toBe('ok');
});

it('keeps the credentials over a restart of the server, and logs no secret of theirs', async () => {
  const credentials = await buy(await tokenOf('reader'));
  const log = server.log.join('\n');
  for (const secret of [credentials.SecretAccessKey, credentials.SessionToken, 'coffer-secret', server.secretKey]) {
    expect(log).not.toContain(secret);
  }
  const again = { folder: server.folder, env: { SVC_THREADS: '1' } };
  await server.kill();
  server = await startServer(again);
  await untilReady(server);
  const client = s3(credentials);
  expect(await get(client)).toBe('ok');
  client.destroy();
});

/** The status of `GET /minio/admin/v3/info`, signed as `mc admin` does: without a region. */
async function adminInfo(credentials: Partial<Credentials>): Promise<number> {
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken } = credentials;
  const url = new URL('/minio/admin/v3/info', server.s3);
  const headers = signRequest(
    { method: 'GET', rawPath: url.pathname, rawQuery: '', headers: { host: url.host } },
    {
      accessKey: AccessKeyId,
      secretKey: SecretAccessKey,
      ...(SessionToken === undefined ? {} : { sessionToken: SessionToken }),
    },
    {
      region: '',
      service: 's3',
      now: new Date(),
      payloadHash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    },
  );
  return (await fetch(url, { headers })).status;
}
