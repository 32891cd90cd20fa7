import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { followCoffer, runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let provider: OpenIdProviderDouble;
let server: RunningServer;
let folder: string;
let root: string;

const coffer = (...args: string[]) => runCoffer(['--config-dir', folder, ...args]);
const asRoot = (...args: string[]) => runCoffer(args, { env: { COFFER_HOST_root: root, COFFER_CONFIG_DIR: folder } });
const loginFile = () => join(folder, 'logins', 'mine.json');

interface Stored {
  readonly refreshToken?: string;
  readonly credentials: { readonly accessKey: string; readonly secretKey: string; readonly expiration: string };
}

async function stored(): Promise<Stored> {
  return JSON.parse(await readFile(loginFile(), 'utf8')) as Stored;
}

/** Signs in by the pages of the provider, as a browser would. Returns what the last page says. */
async function visit(address: string, username = 'ann'): Promise<string> {
  const body = new URLSearchParams({ username, password: `${username}-password` });
  return (await fetch(address, { method: 'POST', body })).text();
}

/** Runs `coffer login`, and does as the user does when the address or the code is shown. */
async function logIn(args: readonly string[], act: (printed: string) => Promise<unknown> | undefined) {
  let acted = false;
  return followCoffer(['--config-dir', folder, 'login', 'mine', ...args], async (printed) => {
    if (!acted) acted = (await act(printed)) !== undefined;
    return false;
  });
}

const byBrowser = (args: readonly string[] = [], username = 'ann') =>
  logIn(['--no-browser', ...args], (printed) => {
    const address = /^http:\S+\/auth\?\S+$/m.exec(printed)?.[0];
    return address === undefined ? undefined : visit(address, username);
  });

const byDevice = (args: readonly string[] = [], username = 'ann') =>
  logIn(['--device', ...args], (printed) => {
    const code = /enter the code (\S+)/.exec(printed)?.[1];
    return code === undefined ? undefined : Promise.resolve(provider.enterCode(code, username));
  });

beforeAll(async () => {
  provider = await startOpenIdProvider({
    users: [{ username: 'ann', claims: { policy: ['readwrite'] } }, { username: 'carl' }],
    clients: [{ id: 'coffer' }, { id: 'cli', secret: '', redirectUris: ['http://127.0.0.1/callback'] }],
  });
  server = await startServer();
  await untilReady(server);
  root = `http://${server.accessKey}:${server.secretKey}@${new URL(server.s3).host}`;
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-login-'));
  provider.realm.refreshTokens = true;
  provider.realm.tokenLifetime = 300;
  const settings = [`config_url=${provider.configUrl}`, 'client_id=coffer', 'client_secret=coffer-secret'];
  await asRoot('idp', 'openid', 'add', 'root', 'MAIN', ...settings, 'cli_client_id=cli');
});

afterEach(async () => {
  provider.heal();
  await asRoot('idp', 'openid', 'remove', 'root', 'MAIN');
  await rm(folder, { recursive: true, force: true });
});

afterAll(async () => {
  await server.stop();
  await provider.close();
});

describe('an alias with a token in a file', () => {
  it('has the rights of the token, and signs links by its credentials', async () => {
    const token = join(folder, 'token');
    await writeFile(token, `${await provider.accessToken('ann')}\n`);
    const env = {
      MC_HOST_job: server.s3,
      MC_STS_ENDPOINT_job: server.s3,
      MC_WEB_IDENTITY_TOKEN_FILE_job: token,
      COFFER_CONFIG_DIR: folder,
    };
    const input = join(folder, 'job.txt');
    await writeFile(input, 'of the job');
    for (const args of [
      ['mb', 'job/of-a-job'],
      ['cp', input, 'job/of-a-job/'],
    ]) {
      expect(await runCoffer(args, { env })).toMatchObject({ code: 0, stderr: '' });
    }
    const shared = await runCoffer(['--json', 'share', 'download', 'job/of-a-job/job.txt'], { env });
    const { share } = JSON.parse(shared.stdout.toString()) as { readonly share: string };
    expect(await (await fetch(share)).text()).toBe('of the job');
    await writeFile(token, 'no token');
    const rejected = await runCoffer(['ls', 'job/of-a-job'], { env });
    expect([rejected.code, rejected.stdout.length]).toEqual([1, 0]);
  });
});

describe('coffer login', () => {
  it('signs in by the browser, adds the alias, and its credentials work', async () => {
    const { code, stdout, stderr } = await byBrowser([server.s3]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Signed in at `mine`');
    expect((await stat(loginFile())).mode & 0o777).toBe(0o600);
    expect((await coffer('ls', 'mine')).code).toBe(0);
    expect((await coffer('mb', 'mine/made-by-ann')).code).toBe(0);
    const config = await readFile(join(folder, 'config.json'), 'utf8');
    expect(config).not.toContain((await stored()).credentials.secretKey);
  });

  it('refuses what is not the answer to the login, and waits for it', async () => {
    const refusals: number[] = [];
    const { code } = await logIn([server.s3, '--no-browser'], async (printed) => {
      const address = /^http:\S+\/auth\?\S+$/m.exec(printed)?.[0];
      if (address === undefined) return undefined;
      const callback = new URL(address).searchParams.get('redirect_uri') ?? '';
      for (const [url, method] of [
        [new URL('/favicon.ico', callback), 'GET'],
        [`${callback}?state=other&code=stolen`, 'GET'],
        [callback, 'POST'],
      ] as const) {
        refusals.push((await fetch(url, { method })).status);
      }
      return visit(address);
    });
    expect([code, refusals]).toEqual([0, [404, 400, 404]]);
  });

  it('signs in by a code', async () => {
    const { code, stderr } = await byDevice([server.s3]);
    expect([code, stderr]).toEqual([0, '']);
    expect((await coffer('ls', 'mine')).code).toBe(0);
  });

  it('renews the credentials quietly, by a refresh token that is good once', async () => {
    await byDevice([server.s3]);
    const before = await stored();
    const expired = { ...before.credentials, expiration: '2020-01-01T00:00:00Z' };
    await writeFile(loginFile(), JSON.stringify({ ...before, credentials: expired }));
    // Programs that start together use one refresh token one after the other.
    const listed = await Promise.all([coffer('ls', 'mine'), coffer('ls', 'mine'), coffer('ls', 'mine')]);
    expect(listed.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    const after = await stored();
    expect(after.credentials.accessKey).not.toBe(before.credentials.accessKey);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    expect(await coffer('ls', 'mine')).toMatchObject({ code: 0 });
  });

  it.each([
    ['the provider refuses', (login: Stored) => ({ ...login, refreshToken: 'stale' })],
    ['there is no refresh token', (login: Stored) => ({ ...login, refreshToken: undefined })],
  ])('says to sign in again when %s', async (_, change) => {
    await byDevice([server.s3]);
    const before = await stored();
    const expired = { ...before.credentials, expiration: '2020-01-01T00:00:00Z' };
    await writeFile(loginFile(), JSON.stringify(change({ ...before, credentials: expired })));
    const { code, stderr } = await coffer('ls', 'mine');
    expect([code, stderr]).toEqual([1, expect.stringContaining('sign in again with `coffer login mine`')]);
  });

  it('gives other tools their credentials', async () => {
    await byDevice([server.s3]);
    const { credentials } = await stored();
    const { stdout } = await coffer('credentials', 'mine');
    expect(JSON.parse(stdout.toString())).toMatchObject({
      Version: 1,
      AccessKeyId: credentials.accessKey,
      SecretAccessKey: credentials.secretKey,
      SessionToken: expect.stringMatching(/./) as unknown,
      Expiration: new Date(credentials.expiration).toISOString(),
    });
  });

  it('is forgotten by a logout, and the alias stays', async () => {
    await byDevice([server.s3]);
    // A command that was killed while it wrote the login leaves such a file.
    await writeFile(join(folder, 'logins', '.mine.json.0123456789abcdef.tmp'), await readFile(loginFile()));
    expect(await coffer('logout', 'mine')).toMatchObject({ code: 0 });
    expect(await readdir(join(folder, 'logins'))).toEqual([]);
    const { code, stderr } = await coffer('credentials', 'mine');
    expect([code, stderr]).toEqual([1, expect.stringContaining('has no keys')]);
    expect((await coffer('logout', 'mine')).stderr).toContain('Nobody is signed in');
  });

  it('never sends the credentials to another server under the same alias', async () => {
    await byDevice([server.s3]);
    const config = join(folder, 'config.json');
    await writeFile(config, (await readFile(config, 'utf8')).replace(server.s3, 'http://127.0.0.1:9'));
    expect((await coffer('credentials', 'mine')).stderr).toContain('has no keys');
  });

  it('says what the server refused', async () => {
    const { code, stderr } = await byDevice([server.s3], 'carl');
    expect([code, stderr]).toEqual([1, expect.stringContaining('policy')]);
  });
});

describe('the provider that the server names', () => {
  it('needs a client without a secret', async () => {
    await asRoot('idp', 'openid', 'update', 'root', 'MAIN', 'cli_client_id=');
    const { code, stderr } = await coffer('login', 'mine', server.s3, '--device');
    expect([code, stderr]).toEqual([1, expect.stringContaining('cli_client_id=CLIENT')]);
  });

  it('is chosen by --provider', async () => {
    const { stderr } = await coffer('login', 'mine', server.s3, '--device', '--provider', 'OTHER');
    expect(stderr).toContain('no identity provider `OTHER`: there are `MAIN`');
  });

  it('is missing where none is configured', async () => {
    await asRoot('idp', 'openid', 'remove', 'root', 'MAIN');
    expect((await coffer('login', 'mine', server.s3)).stderr).toContain('has no identity provider');
  });

  it('must offer a login by a code for --device', async () => {
    provider.realm.discovery = { device_authorization_endpoint: undefined };
    expect((await coffer('login', 'mine', server.s3, '--device')).stderr).toContain('no login by a code');
  });
});
