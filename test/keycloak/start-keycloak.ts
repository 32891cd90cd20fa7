import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/process/free-port.ts';
import { tool } from '../support/process/run-command.ts';

export interface Keycloak {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly configUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** An access token by the password grant. */
  token(username: string, password: string): Promise<string>;
  stop(): Promise<void>;
}

const clientId = 'coffer';
const clientSecret = 'test-client-secret';

/** The one of today, and the one that the specification was tested against. */
export type KeycloakVersion = '26.4.0' | '21.0.0';

export interface KeycloakOptions {
  /** 127.0.0.1 or another address of this machine. */
  readonly host?: string;
  readonly version?: KeycloakVersion;
  /** Files of realms by the names that they get; without it, `realm.json` beside this file as `coffer`. */
  readonly realms?: Readonly<Record<string, URL>>;
}

/** Starts a real Keycloak with its realms in memory. Takes about 20 s. One of a version at a time: it imports from one folder. */
export async function startKeycloak(options: KeycloakOptions = {}): Promise<Keycloak> {
  const { host = '127.0.0.1', version = '26.4.0' } = options;
  const old = version === '21.0.0';
  const home = tool(`keycloak-${version}`, old ? 'keycloak-21' : 'keycloak');
  const folder = join(home, 'data', 'import');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, file] of Object.entries(options.realms ?? { coffer: new URL('realm.json', import.meta.url) })) {
    const realm = JSON.parse(await readFile(fileURLToPath(file), 'utf8')) as Record<string, unknown>;
    if (old) withoutNewerParts(realm);
    await writeFile(join(folder, `${name}.json`), JSON.stringify({ ...realm, realm: name }));
  }
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const child = spawn(
    join(home, 'bin', 'kc.sh'),
    [
      'start-dev',
      '--db=dev-mem',
      `--http-host=${host}`,
      `--http-port=${port}`,
      ...(old ? [] : ['--http-management-port=0']),
      '--import-realm',
    ],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...(process.env['JAVA_HOME'] === undefined ? {} : { JAVA_HOME: process.env['JAVA_HOME'] }),
        COFFER_TEST_CLIENT_SECRET: clientSecret,
        COFFER_CLIENT_SECRET: clientSecret,
        COFFER_CONSOLE_URL: 'http://127.0.0.1:9090',
        KEYCLOAK_ADMIN: 'admin',
        KEYCLOAK_ADMIN_PASSWORD: 'admin-password',
        KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
        KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin-password',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const exited = new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
  });
  const realms = Object.keys(options.realms ?? { coffer: '' });
  // kc.sh starts Java as a child of its own: the whole group goes.
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  try {
    for (const realm of realms) await untilAnswers(keycloakAt(url, realm).configUrl, () => child.exitCode === null);
  } catch (error) {
    await stop();
    throw new Error(`Keycloak did not start:\n${log}`, { cause: error });
  }
  return { ...keycloakAt(url), stop };
}

/** What came with 24 and 25: 21 refuses the first, and has no mapper for the second. */
function withoutNewerParts(realm: Record<string, unknown>): void {
  delete realm['components'];
  const scopes = realm['clientScopes'] as { readonly name: string }[];
  realm['clientScopes'] = scopes.filter(({ name }) => name !== 'basic');
  for (const client of realm['clients'] as { defaultClientScopes: string[] }[]) {
    client.defaultClientScopes = client.defaultClientScopes.filter((name) => name !== 'basic');
  }
}

/** One that was started by another process. */
export function keycloakAt(url: string, realm = 'coffer'): Omit<Keycloak, 'stop'> {
  return {
    url,
    configUrl: `${url}/realms/${realm}/.well-known/openid-configuration`,
    clientId,
    clientSecret,
    async token(username, password) {
      const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'password', username, password };
      const answer = await fetch(`${url}/realms/${realm}/protocol/openid-connect/token`, {
        method: 'POST',
        body: new URLSearchParams({ ...form, scope: 'openid' }),
      });
      const body = (await answer.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(`no token for ${username}: ${JSON.stringify(body)}`);
      return body.access_token;
    },
  };
}

async function untilAnswers(url: string, isRunning: () => boolean): Promise<void> {
  const end = Date.now() + 240_000;
  for (;;) {
    if (!isRunning()) throw new Error('the process has ended');
    const ok = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > end) throw new Error(`${url} did not answer within 4 minutes`);
    await new Promise((resolve) => {
      setTimeout(resolve, 250);
    });
  }
}
