import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { adminCall } from '../keycloak/admin-call.ts';

let provider: OpenIdProviderDouble;
let server: RunningServer;

beforeAll(async () => {
  provider = await startOpenIdProvider({ users: [{ username: 'ann', claims: { policy: ['readwrite'] } }] });
  server = await startServer({ env: { SVC_THREADS: '2' } });
  await server.untilLogged('"ready"');
});
afterAll(async () => {
  await server?.stop();
  await provider?.close();
});

const configure = (method: string, values?: string) =>
  adminCall(server, method, '/minio/admin/v3/idp-config/openid/okta', values);

/** By a connection of its own, so that any of the threads may answer. */
async function assume(): Promise<string> {
  const form = { Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15' };
  const answer = await fetch(server.s3, {
    method: 'POST',
    headers: { connection: 'close' },
    body: new URLSearchParams({ ...form, WebIdentityToken: await provider.accessToken('ann') }),
  });
  return answer.text();
}

function clientOf(answer: string): S3Client {
  const field = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(answer)?.[1] ?? '';
  const credentials = {
    accessKeyId: field('AccessKeyId'),
    secretAccessKey: field('SecretAccessKey'),
    sessionToken: field('SessionToken'),
  };
  return new S3Client({ endpoint: server.s3, region: 'us-east-1', forcePathStyle: true, credentials, maxAttempts: 1 });
}

const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

describe('a provider that an administrator adds while the server runs', () => {
  it('is used by every thread at the next request', async () => {
    expect(await assume()).toContain('No OpenID provider is configured');
    const values = [
      `config_url=${provider.configUrl} client_id=coffer client_secret=coffer-secret`,
      `vendor=keycloak keycloak_admin_url=${provider.adminUrl} keycloak_realm=demo`,
    ];
    expect(await configure('PUT', values.join(' '))).toMatchObject({ status: 200, applied: true });
    for (const answer of await times(8, assume)) expect(answer).toContain('<SessionToken>');
    expect(await server.untilLogged('OpenID provider okta is ready')).toBeDefined();
  });

  it('ends the access of a disabled user, when an administrator asks', async () => {
    const ann = clientOf(await assume());
    await ann.send(new ListBucketsCommand({}));
    provider.user('ann').enabled = false;
    const { text } = await adminCall(server, 'POST', '/minio/admin/coffer/v1/identity-check?user=ann');
    expect(JSON.parse(text)).toMatchObject({ cutOff: [{ name: 'ann', reason: 'disabled' }] });
    for (const sent of await Promise.allSettled(
      Array.from({ length: 8 }, () => ann.send(new ListBucketsCommand({}))),
    )) {
      expect(sent).toMatchObject({ status: 'rejected', reason: { name: 'InvalidAccessKeyId' } });
    }
    for (const answer of await times(8, assume)) expect(answer).toContain('ann is disabled at the provider okta');
    provider.user('ann').enabled = true;
    expect(await assume()).toContain('<SessionToken>');
  });

  it('is used no more once it is removed', async () => {
    expect(await configure('DELETE')).toMatchObject({ status: 200, applied: true });
    for (const answer of await times(8, assume)) expect(answer).toContain('No OpenID provider is configured');
  });
});
