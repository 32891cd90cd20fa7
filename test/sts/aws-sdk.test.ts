import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient, type Credentials } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const run = promisify(execFile);
let provider: OpenIdProviderDouble;
let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-sdk-'));
  provider = await startOpenIdProvider({ users: [{ username: 'reader', claims: { policy: ['readonly'] } }] });
  server = await startServer({
    env: {
      SVC_IDENTITY_OPENID_CONFIG_URL: provider.configUrl,
      SVC_IDENTITY_OPENID_CLIENT_ID: 'coffer',
      SVC_IDENTITY_OPENID_CLIENT_SECRET: 'coffer-secret',
      SVC_THREADS: '1',
    },
  });
  await untilReady(server);
  const root = s3({ AccessKeyId: server.accessKey, SecretAccessKey: server.secretKey });
  await root.send(new CreateBucketCommand({ Bucket: 'reports' }));
  await root.send(new PutObjectCommand({ Bucket: 'reports', Key: 'a', Body: 'hello' }));
  const keys = { accessKey: server.accessKey, secretKey: server.secretKey };
  await adminCall(server.s3, keys, 'PUT', 'add-user?accessKey=ann', { secretKey: 'ann-secret-key', status: 'enabled' });
  await adminCall(server.s3, keys, 'POST', 'idp/builtin/policy/attach', { policies: ['readwrite'], user: 'ann' });
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

const common = () => ({ endpoint: server.s3, region: 'us-east-1', maxAttempts: 1 });
const credentialsOf = ({ AccessKeyId = '', SecretAccessKey = '', SessionToken }: Partial<Credentials>) => ({
  accessKeyId: AccessKeyId,
  secretAccessKey: SecretAccessKey,
  ...(SessionToken === undefined ? {} : { sessionToken: SessionToken }),
});
const s3 = (keys: Partial<Credentials>) =>
  new S3Client({ ...common(), forcePathStyle: true, credentials: credentialsOf(keys) });
const sts = (keys: Partial<Credentials>) => new STSClient({ ...common(), credentials: credentialsOf(keys) });

const ann = { AccessKeyId: 'ann', SecretAccessKey: 'ann-secret-key' };

describe('the SDK of AWS', () => {
  it('assumes a role as a user, narrowed by a session policy', async () => {
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::reports/ann/*' }],
    });
    const role = {
      RoleArn: 'arn:aws:iam::123456789012:role/any',
      RoleSessionName: 'test',
      DurationSeconds: 900,
      Policy,
    };
    const assumed = await sts(ann).send(new AssumeRoleCommand(role));
    const borrowed: Partial<Credentials> = assumed.Credentials ?? {};
    expect(borrowed.Expiration?.getTime()).toBeGreaterThan(Date.now() + 800_000);
    const client = s3(borrowed);
    await client.send(new PutObjectCommand({ Bucket: 'reports', Key: 'ann/a', Body: 'x' }));
    const rejected = client.send(new PutObjectCommand({ Bucket: 'reports', Key: 'a', Body: 'x' }));
    await expect(rejected).rejects.toMatchObject({ name: 'AccessDenied' });
    const again = sts(borrowed).send(new AssumeRoleCommand(role));
    await expect(again).rejects.toMatchObject({ name: 'AccessDenied' });
    const who = await sts(borrowed).send(new GetCallerIdentityCommand({}));
    expect(who.Arn).toBe('arn:aws:sts::000000000000:assumed-role/user/ann');
  });

  it('is told of a wrong secret by the code of AWS', async () => {
    const wrong = sts({ ...ann, SecretAccessKey: 'wrong' }).send(new GetCallerIdentityCommand({}));
    await expect(wrong).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  });

  it('needs no key in a pod, whose token and addresses its variables name', async () => {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, await provider.accessToken('reader'));
    const program = `
      import { S3Client, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
      const client = new S3Client({ forcePathStyle: true });
      const got = await client.send(new GetObjectCommand({ Bucket: 'reports', Key: 'a' }));
      const put = await client.send(new PutObjectCommand({ Bucket: 'reports', Key: 'b', Body: '' })).catch((error) => error.name);
      console.log(JSON.stringify([await got.Body.transformToString(), put]));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        AWS_REGION: 'us-east-1',
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/any',
        AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
        AWS_ENDPOINT_URL: server.s3,
        AWS_ENDPOINT_URL_STS: server.s3,
      },
    });
    expect(JSON.parse(stdout)).toEqual(['hello', 'AccessDenied']);
  });
});
