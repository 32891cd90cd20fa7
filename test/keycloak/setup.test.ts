import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import type { KeycloakVersion } from './start-keycloak.ts';

let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-keycloak-setup-'));
  server = await startServer();
  await untilReady(server);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const coffer = (args: readonly string[], input = '') => {
  const root = `http://${server.accessKey}:${server.secretKey}@${new URL(server.s3).host}`;
  return runCoffer(args, { input, env: { COFFER_HOST_root: root, COFFER_CONFIG_DIR: folder } });
};

/** A call of the admin API as the administrator of all realms. */
async function call<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const form = { client_id: 'admin-cli', grant_type: 'password', username: 'admin', password: 'admin-password' };
  const login = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await login.json()) as { access_token?: string };
  const answer = await fetch(`${url}/admin/realms${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

describe.each(['26.4.0', '21.0.0'] as const)('coffer idp openid keycloak-setup, Keycloak %s', (version) => {
  const url = inject('keycloaks')[version satisfies KeycloakVersion];
  const name = `K${version.replaceAll('.', '_')}`;
  const realm = `empty-${version.slice(0, 2)}`;
  const client = `coffer-${version.slice(0, 2)}`;
  const setUp = (...more: string[]) => setUpAs(name, ...more);
  const setUpAs = (as: string, ...more: string[]) =>
    coffer(
      ['idp', 'openid', 'keycloak-setup', 'root', as]
        .concat('--url', `${url}/`, '--realm', realm, '--admin', 'admin', '--client', client)
        .concat('--console', server.console, ...more),
      'admin-password\n',
    );

  beforeAll(() => call(url, 'POST', '', { realm, enabled: true }));

  it('makes all that a sign-in needs in an empty realm', async () => {
    const { code, stdout, stderr } = await setUp();
    const warned = /no user profile.*read-only-attributes=policy/;
    expect([code, stderr]).toEqual([0, version === '21.0.0' ? (expect.stringMatching(warned) as string) : '']);
    expect(String(stdout)).toMatch(
      version === '21.0.0'
        ? /^\+ Client .*\n\+ Client scope .*\n\+ Client scope .*\n\+ Service account /
        : /^\+ User profile .*\n\+ Client .*\n\+ Client scope .*\n\+ Client scope .*\n\+ Service account /,
    );
    const [made] = await call<{ id: string; secret: string }[]>(url, 'GET', `/${realm}/clients?clientId=${client}`);
    await call(url, 'PUT', `/${realm}/clients/${made?.id}`, { ...made, directAccessGrantsEnabled: true });
    await call(url, 'POST', `/${realm}/users`, {
      username: 'ann',
      firstName: 'Ann',
      lastName: 'Lee',
      email: 'ann@example.com',
      enabled: true,
      attributes: { policy: ['readwrite', 'diagnostics'] },
      credentials: [{ type: 'password', value: 'ann-password', temporary: false }],
    });
    const form = { client_id: client, client_secret: made?.secret ?? '', username: 'ann', password: 'ann-password' };
    const answer = await fetch(`${url}/realms/${realm}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, grant_type: 'password', scope: 'openid' }),
    });
    const { access_token: token = '' } = (await answer.json()) as { access_token?: string };
    const file = join(folder, 'token');
    await writeFile(file, token);
    const tested = await coffer(['idp', 'openid', 'test', 'root', name, '--token-file', file]);
    expect([tested.code, tested.stderr, String(tested.stdout)]).toEqual([
      0,
      '',
      expect.stringMatching(/Administration[^]*✔ Policies .*readwrite/),
    ]);
  });

  it('can be repeated, and changes nothing of what is there', async () => {
    const before = await call(url, 'GET', `/${realm}/clients?clientId=${client}`);
    const { code, stdout } = await setUp();
    expect([code, String(stdout)]).toEqual([0, expect.not.stringMatching(/^[+?]/m)]);
    expect(await call(url, 'GET', `/${realm}/clients?clientId=${client}`)).toEqual(before);
  });

  it('makes nothing where the name has a provider of another client', async () => {
    const { code, stderr } = await setUp('--client', 'another');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`with the client ${client}: choose another name`)]);
    expect(await call(url, 'GET', `/${realm}/clients?clientId=another`)).toEqual([]);
  });

  it('leaves a client of another form as it is, and says what it needs', async () => {
    const other = { clientId: 'theirs', publicClient: true, redirectUris: ['https://app.example/*'] };
    await call(url, 'POST', `/${realm}/clients`, other);
    const { code, stderr } = await setUpAs(`${name}_THEIRS`, '--client', 'theirs');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /theirs is there in another form.*client authentication on.*service accounts on.*oauth_callback/,
      ),
    ]);
    expect(await call(url, 'GET', `/${realm}/clients?clientId=theirs`)).toMatchObject([other]);
  });

  it.runIf(version === '26.4.0')('refuses a realm whose people may write the attribute themselves', async () => {
    const profile = await call<{ attributes: { name: string; permissions?: object }[] }>(
      url,
      'GET',
      `/${realm}/users/profile`,
    );
    const own = { view: ['admin', 'user'], edit: ['admin', 'user'] };
    const open = profile.attributes.map((one) => (one.name === 'policy' ? { ...one, permissions: own } : one));
    await call(url, 'PUT', `/${realm}/users/profile`, { ...profile, attributes: open });
    const { code, stderr } = await setUp();
    expect([code, stderr]).toEqual([1, expect.stringContaining('People may edit the attribute "policy" themselves')]);
    const rest = profile.attributes.filter((one) => one.name !== 'policy');
    await call(url, 'PUT', `/${realm}/users/profile`, {
      ...profile,
      attributes: rest,
      unmanagedAttributePolicy: 'ENABLED',
    });
    expect(String((await setUp()).stdout)).toContain(
      '+ User profile    The attribute "policy", which administrators alone',
    );
  });

  it('sends no password in clear', async () => {
    const words = ['--url', 'http://idp.example.com', '--realm', 'r', '--admin', 'a', '--console', server.console];
    const { code, stderr } = await coffer(['idp', 'openid', 'keycloak-setup', 'root', 'X', ...words], 'password\n');
    expect([code, stderr]).toEqual([1, expect.stringContaining('no https address')]);
  });

  it('names a wrong password and a realm that does not exist', async () => {
    const words = ['--url', url, '--realm', 'nowhere', '--admin', 'admin', '--console', server.console];
    const attempt = (password: string) =>
      coffer(['idp', 'openid', 'keycloak-setup', 'root', 'X', ...words], `${password}\n`);
    expect((await attempt('mistyped')).stderr).toContain('check the name and the password of admin');
    expect((await attempt('admin-password')).stderr).toContain('check url and realm');
  });
});
