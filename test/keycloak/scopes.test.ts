import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { checkProvider } from '../../operator/reconcile/identity-provider/check-provider.ts';
import { identityProviderSpec } from '../../operator/api/identity-provider.ts';
import { discover } from '../../platform/openid/discovery.ts';
import { createKeycloakAdmin } from '../../platform/openid/keycloak-admin.ts';
import { probeClient, probeRedirect } from '../../platform/openid/probe.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { keycloakAt } from './start-keycloak.ts';

// Keycloak refuses a sign-in with a scope that the client does not have, also one that its discovery document lists.

const keycloak = keycloakAt(inject('keycloaks')['26.4.0']);
let server: RunningServer;
let folder: string;
let redirectUri: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-keycloak-scopes-'));
  server = await startServer();
  await untilReady(server);
  redirectUri = `${server.console}/oauth_callback`;
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const coffer = (...args: string[]) => {
  const root = `http://${server.accessKey}:${server.secretKey}@${new URL(server.s3).host}`;
  return runCoffer(args, { env: { COFFER_HOST_root: root, COFFER_CONFIG_DIR: folder } });
};
const add = (name: string, scopes: string) =>
  coffer(
    'idp',
    'openid',
    'add',
    'root',
    name,
    `config_url=${keycloak.configUrl}`,
    `client_id=${keycloak.clientId}`,
    `client_secret=${keycloak.clientSecret}`,
    `redirect_uri=${redirectUri}`,
    `scopes=${scopes}`,
  );
const checked = (scopes: readonly string[]) =>
  checkProvider(
    {
      kind: 'IdentityProvider',
      metadata: { name: 'staff' },
      spec: identityProviderSpec.parse({
        configUrl: keycloak.configUrl,
        clientId: keycloak.clientId,
        clientSecretRef: { name: 'client', key: 'secret' },
        redirectUri,
        scopes,
      }),
    },
    keycloak.clientSecret,
    { discover, probeClient, probeRedirect, createKeycloakAdmin },
  );

describe.each([
  ['that the realm does not have', 'roles-of-nobody'],
  ['that the realm lists, and the client does not have', 'payroll'],
])('a scope %s', (_, scope) => {
  it('is refused by the client and the server, with its name', async () => {
    const { code, stderr } = await add('SCOPED', `openid,email,${scope}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/invalid_scope|does not list/);
    expect(stderr).toContain(scope);
    expect(String((await coffer('idp', 'openid', 'ls', 'root')).stdout)).not.toMatch(/scoped/i);
  });

  it('is refused by the operator before a server gets the provider', async () => {
    expect(await checked(['openid', 'email', scope])).toMatchObject({
      kind: 'broken',
      reason: 'ScopeRefused',
      message: expect.stringContaining(scope),
    });
  });
});

describe('scopes that the client has', () => {
  it('are taken, and the test of the provider asks for them as a sign-in does', async () => {
    expect(await checked(['openid', 'email', 'coffer-policy'])).toMatchObject({ kind: 'good' });
    const added = await add('GOOD', 'openid,email,coffer-policy');
    expect(added.code, added.stderr).toBe(0);
    const { code, stdout } = await coffer('idp', 'openid', 'test', 'root', 'GOOD');
    expect(code).toBe(0);
    expect(String(stdout)).toContain('openid email coffer-policy');
  });
});
