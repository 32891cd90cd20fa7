import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('sts.py', import.meta.url));
let provider: OpenIdProviderDouble;
let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-boto3-'));
  provider = await startOpenIdProvider({ users: [{ username: 'reader', claims: { policy: ['readonly'] } }] });
  server = await startServer({
    env: {
      SVC_IDENTITY_OPENID_CONFIG_URL: provider.configUrl,
      SVC_IDENTITY_OPENID_CLIENT_ID: 'coffer',
      SVC_IDENTITY_OPENID_CLIENT_SECRET: 'coffer-secret',
    },
  });
  await untilReady(server);
  const keys = { accessKey: server.accessKey, secretKey: server.secretKey };
  const root = new S3Client({
    endpoint: server.s3,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: keys.accessKey, secretAccessKey: keys.secretKey },
  });
  await root.send(new CreateBucketCommand({ Bucket: 'reports' }));
  await root.send(new PutObjectCommand({ Bucket: 'reports', Key: 'a', Body: 'hello' }));
  root.destroy();
  await adminCall(server.s3, keys, 'PUT', 'add-user?accessKey=ann', { secretKey: 'ann-secret-key', status: 'enabled' });
  await adminCall(server.s3, keys, 'POST', 'idp/builtin/policy/attach', { policies: ['readwrite'], user: 'ann' });
}, 360_000);
afterAll(async () => {
  await server?.stop();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

async function outcomeOf(job: object, env: Record<string, string> = {}): Promise<unknown> {
  const result = await runCommand(python, [script], { input: JSON.stringify(job), env: { NO_PROXY: '*', ...env } });
  if (result.code !== 0) throw new Error(result.stderr);
  return JSON.parse(result.stdout);
}

describe('STS by boto3', () => {
  it('assumes a role, narrowed by a session policy', async () => {
    const policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::reports/*' }],
    });
    const job = { endpoint: server.s3, accessKey: 'ann', secretKey: 'ann-secret-key', policy };
    expect(await outcomeOf(job)).toEqual({
      reads: 'allowed',
      writes: 'AccessDenied',
      tooLong: 'InvalidParameterValue',
    });
  });

  it('needs no key in a pod, whose token and addresses its variables name', async () => {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, await provider.accessToken('reader'));
    const env = {
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/any',
      AWS_ROLE_SESSION_NAME: 'pod',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ENDPOINT_URL: server.s3,
      AWS_ENDPOINT_URL_STS: server.s3,
    };
    expect(await outcomeOf({ pod: true }, env)).toEqual({
      reads: 'allowed',
      writes: 'AccessDenied',
      arn: 'arn:aws:sts::000000000000:assumed-role/_/reader',
    });
  });
});
