import { spawn } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../harness/free-port.ts';
import { tool } from '../harness/tools.ts';

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

/**
 * Starts a real Keycloak with the realm of `realm.json` in memory, on a free port, at 127.0.0.1 or another address of this machine.
 * Takes about 20 s.
 */
export async function startKeycloak({ host = '127.0.0.1' }: { readonly host?: string } = {}): Promise<Keycloak> {
  const home = tool('keycloak-26.4.0', 'keycloak');
  await mkdir(join(home, 'data', 'import'), { recursive: true });
  await copyFile(fileURLToPath(new URL('realm.json', import.meta.url)), join(home, 'data', 'import', 'coffer.json'));
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const child = spawn(
    join(home, 'bin', 'kc.sh'),
    [
      'start-dev',
      '--db=dev-mem',
      `--http-host=${host}`,
      `--http-port=${port}`,
      '--http-management-port=0',
      '--import-realm',
    ],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...(process.env['JAVA_HOME'] === undefined ? {} : { JAVA_HOME: process.env['JAVA_HOME'] }),
        COFFER_TEST_CLIENT_SECRET: clientSecret,
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
  const { configUrl } = keycloakAt(url);
  // kc.sh starts Java as a child of its own: the whole group goes.
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  try {
    await untilAnswers(configUrl, () => child.exitCode === null);
  } catch (error) {
    await stop();
    throw new Error(`Keycloak did not start:\n${log}`, { cause: error });
  }
  return { ...keycloakAt(url), stop };
}

/** One that was started by another process. */
export function keycloakAt(url: string): Omit<Keycloak, 'stop'> {
  return {
    url,
    configUrl: `${url}/realms/coffer/.well-known/openid-configuration`,
    clientId,
    clientSecret,
    async token(username, password) {
      const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'password', username, password };
      const answer = await fetch(`${url}/realms/coffer/protocol/openid-connect/token`, {
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
