import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

/** Archives of a real MinIO whose users, of an OpenID provider, made access keys. */

const roleArn = `arn:minio:iam:::role/${createHash('sha1').update('coffer').digest('base64url')}`;
const narrow = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};

let folder: string;
let provider: OpenIdProviderDouble;
let mc: StockMc;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-openid-archive-'));
  provider = await OpenIdProviderDouble.start({ algorithm: 'RS256', users: [{ username: 'ann' }] });
  mc = new StockMc(folder);
});
afterAll(async () => {
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

const variables = (prefix: string, rights: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries({
      CONFIG_URL: provider.configUrl,
      CLIENT_ID: 'coffer',
      CLIENT_SECRET: 'coffer-secret',
      ...rights,
    }).map(([name, value]) => [`${prefix}_IDENTITY_OPENID_${name}`, value]),
  );

/** The credentials of a sign-in. A MinIO that has just started refuses it for some seconds. */
async function signIn(minio: RunningMinio, asked: Readonly<Record<string, string>>) {
  const WebIdentityToken = await provider.idToken('ann', { policy: ['readwrite'] });
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    WebIdentityToken,
    ...asked,
  });
  for (const end = Date.now() + 60_000; ; await sleep(250)) {
    const text = await (await fetch(minio.url, { method: 'POST', body })).text();
    const valueOf = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? '';
    if (valueOf('AccessKeyId') !== '') {
      return { user: valueOf('AccessKeyId'), secret: valueOf('SecretAccessKey'), token: valueOf('SessionToken') };
    }
    if (Date.now() > end) throw new Error(text);
  }
}

describe.each([
  ['claim', { CLAIM_NAME: 'policy' }, {}],
  ['role', { ROLE_POLICY: 'readwrite' }, { RoleArn: roleArn }],
])('access keys of users whose policies come from the %s', (way, rights, asked) => {
  let minio: RunningMinio;
  let coffer: RunningServer;
  const file = () => join(folder, `${way}.zip`);
  const alias = () => `http://${coffer.accessKey}:${coffer.secretKey}@${new URL(coffer.s3).host}`;
  const importing = () =>
    runCoffer(['admin', 'cluster', 'iam', 'import', 'new', file()], { env: { MC_HOST_new: alias() } });

  beforeAll(async () => {
    minio = await startMinio('127.0.0.1', variables('MINIO', rights));
    const { user, secret, token } = await signIn(minio, asked);
    const person = new StockMc(folder, {
      MC_HOST_ann: `http://${user}:${secret}:${token}@${new URL(minio.url).host}`,
    });
    const policy = join(folder, 'narrow.json');
    await writeFile(policy, JSON.stringify(narrow));
    const make = (name: string, ...more: string[]) =>
      person.run(
        'admin',
        'accesskey',
        'create',
        'ann',
        '--access-key',
        `anns-${name}`,
        '--secret-key',
        `secret-of-${name}`,
        ...more,
      );
    await make('whole');
    await make('narrow', '--policy', policy);
    await make('off');
    await mc.alias('old', minio.url, minio.accessKey, minio.secretKey);
    await mc.run('admin', 'accesskey', 'disable', 'old', 'anns-off');
    await mc.run('admin', 'cluster', 'iam', 'export', 'old', '--output', file());
  }, 360_000);
  afterAll(async () => {
    await coffer?.stop();
    await minio?.stop();
  });

  it('are named where no provider has their issuer, with exit code 1', async () => {
    coffer = await startServer();
    const { code, stdout } = await importing();
    expect([code, stdout.toString()]).toEqual([1, expect.stringContaining(`the issuer ${provider.issuer}`) as string]);
    expect(stdout.toString()).not.toContain('sts polic');
    await coffer.stop();
  });

  it('work as before at a server with the same provider', async () => {
    coffer = await startServer({ env: variables('SVC', rights) });
    const { code, stdout, stderr } = await importing();
    expect({ code, stderr }, stdout.toString()).toEqual({ code: 0, stderr: '' });
    const reads = (name: string) =>
      s3Client({ s3: coffer.s3, accessKey: `anns-${name}`, secretKey: `secret-of-${name}` })
        .send(new ListBucketsCommand({}))
        .then(
          ({ Buckets }) => (Buckets === undefined ? 'no list' : 'a list'),
          ({ name: code }: Error) => code,
        );
    expect(await reads('whole')).toBe('a list');
    expect(await reads('narrow')).toBe('AccessDenied');
    expect(await reads('off')).toBe('InvalidAccessKeyId');
  });
});
