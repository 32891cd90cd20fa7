import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { followCoffer, runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { FormBrowser } from './form-browser.ts';
import { keycloakAt } from './start-keycloak.ts';

const keycloak = keycloakAt(inject('keycloaks')['26.4.0']);
let server: RunningServer;
let folder: string;

const coffer = (...args: string[]) => runCoffer(['--config-dir', folder, ...args]);
const alice = { username: 'alice', password: 'alice-password' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-keycloak-login-'));
  server = await startServer();
  await untilReady(server);
  const root = `http://${server.accessKey}:${server.secretKey}@${new URL(server.s3).host}`;
  const values = [
    `config_url=${keycloak.configUrl}`,
    `client_id=${keycloak.clientId}`,
    `client_secret=${keycloak.clientSecret}`,
  ];
  const added = await runCoffer(['idp', 'openid', 'add', 'root', 'KC', ...values, 'cli_client_id=coffer-cli'], {
    env: { COFFER_HOST_root: root, COFFER_CONFIG_DIR: folder },
  });
  expect(added.code, added.stderr).toBe(0);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `coffer login`, and acts once with what it shows. */
async function logIn(args: readonly string[], shown: RegExp, act: (found: string) => Promise<void>) {
  let acted = false;
  return followCoffer(['--config-dir', folder, 'login', 'mine', ...args], async (printed) => {
    const found = shown.exec(printed)?.[0];
    if (acted || found === undefined) return false;
    acted = true;
    await act(found);
    return false;
  });
}

describe('coffer login at a real Keycloak', () => {
  it('signs in by the browser: code, PKCE and a port of the loopback interface', async () => {
    const browser = new FormBrowser();
    const { code, stderr } = await logIn([server.s3, '--no-browser'], /http:\S+\/auth\?\S+/, async (address) => {
      await browser.open(address);
      await browser.submit(alice);
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(browser.html).toContain('You are signed in');
    expect(await coffer('mb', 'mine/made-by-alice')).toMatchObject({ code: 0, stderr: '' });
  }, 180_000);

  it('signs in by a code', async () => {
    const { code, stderr } = await logIn([server.s3, '--device'], /http:\S+user_code=\S+/, async (address) => {
      const browser = new FormBrowser();
      await browser.open(address);
      await browser.submit(alice);
      await browser.submit({ accept: 'Yes' });
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(await coffer('ls', 'mine')).toMatchObject({ code: 0 });
  }, 180_000);

  it('renews the credentials, and ends that with the logout', async () => {
    const path = join(folder, 'logins', 'mine.json');
    const stored = JSON.parse(await readFile(path, 'utf8')) as { credentials: { accessKey: string } };
    const credentials = { ...stored.credentials, expiration: '2020-01-01T00:00:00Z' };
    await writeFile(path, JSON.stringify({ ...stored, credentials }));
    expect(await coffer('ls', 'mine')).toMatchObject({ code: 0, stderr: '' });
    const renewed = await readFile(path, 'utf8');
    expect(renewed).not.toContain(stored.credentials.accessKey);
    expect(await coffer('logout', 'mine')).toMatchObject({ code: 0, stderr: '' });
    // A copy of the file is worth nothing once its credentials have expired.
    await writeFile(path, renewed.replace(/"expiration": "[^"]*"/, '"expiration": "2020-01-01T00:00:00Z"'));
    expect((await coffer('ls', 'mine')).stderr).toContain('sign in again');
  }, 180_000);
});
