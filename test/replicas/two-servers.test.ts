import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const Bucket = 'shared';
let deployment: Deployment;
let provider: OpenIdProviderDouble;
let one: RunningServer;
let other: RunningServer;
let onOne: S3Client;
let onOther: S3Client;

beforeAll(async () => {
  provider = await startOpenIdProvider({ users: [{ username: 'writer', claims: { policy: 'readwrite' } }] });
  deployment = await newDeployment();
  const env = {
    SVC_IDENTITY_OPENID_CONFIG_URL_PRIMARY_IAM: provider.configUrl,
    SVC_IDENTITY_OPENID_CLIENT_ID_PRIMARY_IAM: 'coffer',
    SVC_IDENTITY_OPENID_CLIENT_SECRET_PRIMARY_IAM: 'coffer-secret',
  };
  // At once: they race for the tables, the deployment and the lease.
  [one, other] = await Promise.all([deployment.start(env), deployment.start(env)]);
  [onOne, onOther] = [s3Client(one), s3Client(other)];
  await onOne.send(new CreateBucketCommand({ Bucket }));
}, 540_000);
afterAll(async () => {
  await deployment.remove();
  await provider.close();
});

const read = async (client: S3Client, Key: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Body?.transformToString();
};
const keys = async (client: S3Client) => {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key }) => Key);
};

describe('what one server was told', () => {
  it.each([
    ['small', 'a small object'],
    ['large', 'x'.repeat(3_000_000)],
  ])('the other one knows at once: a %s object, its place in the list, and its end', async (Key, Body) => {
    await onOne.send(new PutObjectCommand({ Bucket, Key, Body }));
    expect(await read(onOther, Key)).toBe(Body);
    expect(await keys(onOther)).toContain(Key);
    await onOther.send(new DeleteObjectCommand({ Bucket, Key }));
    expect(await refusal(read(onOne, Key))).toEqual({ code: 'NoSuchKey', status: 404 });
    expect(await keys(onOne)).not.toContain(Key);
  });

  it('the other one goes on with: a multipart upload', async () => {
    const Key = 'in-parts';
    const { UploadId } = await onOne.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const parts = ['a'.repeat(5 * 2 ** 20), 'b'];
    const Parts = await Promise.all(
      parts.map(async (Body, index) => {
        const upload = { Bucket, Key, UploadId, PartNumber: index + 1, Body };
        const { ETag } = await (index === 0 ? onOne : onOther).send(new UploadPartCommand(upload));
        return { ETag, PartNumber: index + 1 };
      }),
    );
    const complete = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
    await onOther.send(new CompleteMultipartUploadCommand(complete));
    expect(await read(onOne, Key)).toBe(parts.join(''));
  });

  it('the other one believes: temporary credentials', async () => {
    const { Credentials } = await new STSClient({ endpoint: one.s3, region: 'us-east-1' }).send(
      new AssumeRoleWithWebIdentityCommand({
        RoleArn: 'arn:aws:iam::123456789012:role/any',
        RoleSessionName: 'test',
        WebIdentityToken: await tokenOf('writer'),
      }),
    );
    const credentials = {
      accessKeyId: Credentials?.AccessKeyId ?? '',
      secretAccessKey: Credentials?.SecretAccessKey ?? '',
      sessionToken: Credentials?.SessionToken ?? '',
    };
    const asWriter = s3Client(other, { credentials });
    await asWriter.send(new PutObjectCommand({ Bucket, Key: 'by-writer', Body: 'hello' }));
    expect(await read(asWriter, 'by-writer')).toBe('hello');
  });

  it('the other one obeys within a second: a bucket policy', async () => {
    await onOne.send(new PutObjectCommand({ Bucket, Key: 'public', Body: 'for all' }));
    const anyone = async () => (await fetch(`${other.s3}/${Bucket}/public`)).status;
    expect(await anyone()).toBe(403);
    const allow = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [allow] });
    await onOne.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    expect(await anyone()).toBe(200);
    await onOne.send(new DeleteBucketPolicyCommand({ Bucket }));
    expect(await anyone()).toBe(403);
  });
});

describe('a person', () => {
  it('who signed in to the console of one is known to that of the other', async () => {
    const headers = { 'content-type': 'application/json', 'x-coffer-console': '1' };
    const body = JSON.stringify({ accessKey: one.accessKey, secretKey: one.secretKey });
    const signedIn = await fetch(`${one.console}/api/sign-in`, { method: 'POST', headers, body });
    expect(signedIn.status).toBeLessThan(300);
    const cookie = signedIn.headers.getSetCookie().map((set) => set.split(';')[0]);
    const session = (console: string) => fetch(`${console}/api/session`, { headers: { cookie: cookie.join('; ') } });
    expect((await session(other.console)).status).toBe(200);
    expect((await fetch(`${other.console}/api/session`)).status).toBe(401);
  });

  it('who asks one for its state is told of both', async () => {
    const servers = async () => {
      const info = await fetch(`${one.s3}/minio/admin/v3/info`, {
        headers: signedHeaders(one, '/minio/admin/v3/info'),
      });
      const { servers: all } = (await info.json()) as { servers: { endpoint: string; state: string }[] };
      return all.map(({ endpoint, state }) => `${endpoint} ${state}`).toSorted();
    };
    const expected = [one, other].map(({ s3 }) => `${new URL(s3).host} online`).toSorted();
    await expect.poll(servers, { timeout: 45_000 }).toEqual(expected);
  });
});

function signedHeaders(server: RunningServer, path: string): Record<string, string> {
  const { head } = signByHand(server, { method: 'GET', path, payload: 'UNSIGNED-PAYLOAD' });
  const fields = head.matchAll(/^(?!host:)([^:\s]+): (.*)\r$/gim);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

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

it('the network between both servers is measured, each to the other', async () => {
  const hosts = [one, other].map(({ s3 }) => new URL(s3).host);
  const ask = async () => {
    const { value } = await adminCall(one.s3, one, 'POST', '/minio/admin/v3/speedtest/net?duration=1s');
    const last = [value].flat().at(-1) as { readonly nodeResults?: readonly object[] } | undefined;
    return last?.nodeResults ?? [];
  };
  const moved: unknown = expect.toSatisfy((rate: unknown) => typeof rate === 'number' && rate > 0);
  // The servers look for each other every few seconds, and a busy machine may send nothing in a second.
  await expect
    .poll(ask, { timeout: 270_000, interval: 500 })
    .toEqual(expect.arrayContaining(hosts.map((endpoint) => ({ endpoint, tx: moved, rx: moved }))));
}, 360_000);
