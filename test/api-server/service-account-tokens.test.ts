import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { type ApiServer, startApiServer } from './cluster.ts';

// A server that asks a real API server for the keys of its service accounts' tokens, as pods of the operator do.

let cluster: ApiServer;
let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-accounts-'));
  cluster = await startApiServer();
  for (const account of ['server', 'backup', 'stranger']) {
    await cluster.kubectl(['create', 'serviceaccount', account, '--namespace=default']);
  }
  const role = '--clusterrole=system:service-account-issuer-discovery';
  await cluster.kubectl(['create', 'clusterrolebinding', 'discovery', role, '--serviceaccount=default:server']);
  const config = parse(await cluster.kubectl(['config', 'view', '--raw', '--flatten'])) as {
    readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  };
  const { server: address, 'certificate-authority-data': authority = '' } = config.clusters[0]?.cluster ?? {};
  await writeFile(join(folder, 'ca.crt'), Buffer.from(authority, 'base64'));
  await writeFile(join(folder, 'token'), await tokenOf('server'));
  server = await startServer({
    env: {
      SVC_IDENTITY_OPENID_VENDOR_CLUSTER: 'kubernetes',
      SVC_IDENTITY_OPENID_CONFIG_URL_CLUSTER: `${address}/.well-known/openid-configuration`,
      SVC_IDENTITY_OPENID_CLIENT_ID_CLUSTER: 'coffer',
      SVC_IDENTITY_OPENID_CA_FILE_CLUSTER: join(folder, 'ca.crt'),
      SVC_IDENTITY_OPENID_TOKEN_FILE_CLUSTER: join(folder, 'token'),
    },
  });
  await untilReady(server, 60_000);
});
afterAll(async () => {
  await server?.stop();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function tokenOf(account: string, ...options: readonly string[]): Promise<string> {
  return (await cluster.kubectl(['create', 'token', account, '--namespace=default', ...options])).trim();
}

async function assume(token: string): Promise<unknown> {
  const sts = new STSClient({ endpoint: server.s3, region: 'us-east-1' });
  const RoleArn = 'arn:aws:iam::000000000000:role/any';
  return sts.send(new AssumeRoleWithWebIdentityCommand({ RoleArn, RoleSessionName: 'job', WebIdentityToken: token }));
}

describe('the tokens of service accounts', () => {
  it('are known by the keys of the API server, and say who they are of', async () => {
    await expect(assume(await tokenOf('backup', '--audience=coffer'))).rejects.toThrow(
      'system:serviceaccount:default:backup',
    );
  });

  it('for another audience are refused', async () => {
    await expect(assume(await tokenOf('backup'))).rejects.toMatchObject({ name: 'InvalidIdentityTokenException' });
  });
});
