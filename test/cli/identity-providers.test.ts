import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { runCoffer, type CofferResult } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let provider: OpenIdProviderDouble;
let server: RunningServer;
let folder: string;

async function attempt(args: readonly string[], input?: string): Promise<CofferResult> {
  const options = input === undefined ? {} : { input };
  return runCoffer(['--config-dir', join(folder, 'config'), ...args], options);
}

async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(args);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

interface Step {
  readonly step: string;
  readonly outcome: string;
  readonly message: string;
}

/** The steps that a test tells, and the exit code. */
async function walked(args: readonly string[], input?: string): Promise<{ code: number; steps: Step[] }> {
  const { code, stdout } = await attempt(['--json', 'idp', 'openid', 'test', 's', 'MAIN', ...args], input);
  const lines = stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return { code, steps: lines.map((line) => JSON.parse(line) as Step).filter(({ step }) => step !== undefined) };
}

function outcomes(steps: readonly Step[]): string[] {
  return steps.map(({ step, outcome }) => `${step}: ${outcome}`);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-idp-'));
  provider = await startOpenIdProvider({
    users: [
      { username: 'ann', claims: { policy: ['readwrite', 'not-there'] } },
      { username: 'bob', claims: { groups: ['staff'] } },
      { username: 'carl', claims: { policy: 'readonly' }, enabled: false },
    ],
  });
  server = await startServer();
  await untilReady(server);
  await attempt(['alias', 'set', 's', server.s3, server.accessKey, server.secretKey]);
});

afterEach(() => provider.heal());

afterAll(async () => {
  await server?.stop();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('coffer admin idp openid', () => {
  it('says that nothing is configured, and what to write', async () => {
    expect(await coffer('idp', 'openid', 'list', 's')).toMatch(/coffer idp openid add s NAME config_url=/);
  });

  it('adds a provider in the words of the specification, its secret asked for', async () => {
    const settings = [
      `config_url=${provider.configUrl}`,
      'client_id=coffer',
      'client_secret=-',
      'display_name=Our staff',
    ];
    const { code, stdout, stderr } = await attempt(
      ['admin', 'idp', 'openid', 'add', 's', 'MAIN', ...settings],
      'coffer-secret\n',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.toString()).toMatch(
      /Successfully applied new settings\. They are in effect\.\nTry it: coffer idp openid test s MAIN/,
    );
  });

  it('lists and shows it, without its secret', async () => {
    expect(await coffer('admin', 'idp', 'openid', 'list', 's')).toMatch(/^NAME +STATUS +ROLE ARN\nMAIN +enabled/);
    const shown = await coffer('idp', 'openid', 'info', 's', 'MAIN');
    expect(shown).toMatch(/display_name: +Our staff/);
    expect(shown).not.toContain('coffer-secret');
  });

  it('warns of a secret on the command line, and tells what is no setting', async () => {
    const update = ['admin', 'idp', 'openid', 'update', 's', 'MAIN'];
    const warned = await attempt([...update, 'client_secret=coffer-secret']);
    expect([warned.code, warned.stderr]).toEqual([0, expect.stringMatching(/<WARNING> The client_secret is on the/)]);
    const wrong = await attempt([...update, 'scopes=openid', 'email']);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('key=value; `email` is none')]);
    const unknown = await attempt([...update, 'colour=blue']);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('colour is no key')]);
  });

  it('refuses to add what is there, and to change what is not', async () => {
    const settings = [`config_url=${provider.configUrl}`, 'client_id=coffer'];
    const twice = await attempt(['idp', 'openid', 'add', 's', 'MAIN', ...settings]);
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining('There is a configuration "MAIN" already')]);
    const nowhere = await attempt(['idp', 'openid', 'update', 's', 'OTHER', ...settings]);
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('There is no configuration "OTHER"')]);
  });

  it('has the same commands for the directory', async () => {
    expect(await coffer('idp', 'ldap', 'list', 's')).toMatch(/coffer idp ldap add s server_addr=/);
    const named = await attempt(['idp', 'ldap', 'add', 's', 'NAME', 'server_addr=127.0.0.1:1']);
    expect([named.code, named.stderr]).toEqual([1, expect.stringContaining('There is one directory, without a name')]);
    const add = ['idp', 'ldap', 'add', 's', 'server_addr=127.0.0.1:1', 'lookup_bind_password=-'];
    const { code, stderr } = await attempt(add, 'bind-password\n');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unable to add the directory at `s`')]);
    expect(stderr).not.toContain('bind-password');
  });

  it('attaches policies to claims', async () => {
    const claim = ['--provider', 'MAIN', '--claim', 'groups', '--value', 'staff'];
    await coffer('idp', 'openid', 'policy', 'attach', 's', 'readonly', ...claim);
    expect(await coffer('idp', 'openid', 'policy', 'list', 's')).toMatch(/MAIN +groups +staff +readonly/);
    await coffer('idp', 'openid', 'policy', 'detach', 's', 'readonly', ...claim);
    const { code, stderr } = await attempt(['idp', 'openid', 'policy', 'attach', 's', 'readonly']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('--claim NAME and --value VALUE')]);
  });

  it('lists access keys of people, and ends their temporary credentials', async () => {
    const form = { Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', DurationSeconds: '900' };
    const token = await provider.accessToken('ann', { exp: Math.floor(Date.now() / 1_000) + 3_600 });
    const answer = await fetch(server.s3, {
      method: 'POST',
      body: new URLSearchParams({ ...form, WebIdentityToken: token }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<SecretAccessKey>')]);
    const listed = await coffer('idp', 'openid', 'accesskey', 'list', 's', '--temp-only');
    expect(listed).toMatch(/^USER +ACCESS KEY[^]*\nann \(MAIN\) +\S+ +temporary +on/);
    const rejected = await attempt(['idp', 'openid', 'accesskey', 'sts-revoke', 's', 'ann']);
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('--all, or --token-type LABEL')]);
  });

  it('asks about people now', async () => {
    expect(await coffer('idp', 'openid', 'check', 's')).toMatch(/^Checked \d+ users: /);
  });
});

describe('coffer idp openid test', () => {
  it('goes as far as it can without a person, and says how to go on', async () => {
    const said = await coffer('idp', 'openid', 'test', 's', 'MAIN');
    expect(said).toMatch(/✔ Discovery[^]*✔ Keys[^]*✔ Client[^]*--device, --user NAME or --token-file FILE/);
  });

  it('gets a token by name and password, and says which policies it brings', async () => {
    const { code, steps } = await walked(['--user', 'ann'], 'ann-password\n');
    expect(outcomes(steps).slice(-5)).toEqual([
      'Provider: ok',
      'Token: ok',
      'Checks: ok',
      'Claims: ok',
      'Policies: ok',
    ]);
    expect(steps.at(-1)?.message).toContain('which is ["readwrite","not-there"]: readwrite.');
    expect(code).toBe(0);
  });

  it('says that name or password are wrong, or the account is disabled', async () => {
    for (const [user, password] of [
      ['ann', 'wrong'],
      ['carl', 'carl-password'],
    ] as const) {
      const { code, steps } = await walked(['--user', user], `${password}\n`);
      expect([code, steps.at(-1)]).toMatchObject([
        1,
        { step: 'Token', outcome: 'failed', message: expect.stringContaining('invalid_grant') },
      ]);
    }
  });

  it('names the claim that it looked for, and those that came', async () => {
    const file = join(folder, 'token.jwt');
    await writeFile(file, `${await provider.accessToken('bob')}\n`);
    const { code, steps } = await walked(['--token-file', file]);
    expect([code, steps.at(-1)]).toMatchObject([1, { step: 'Policies', outcome: 'failed' }]);
    expect(steps.at(-1)?.message).toMatch(/claim "policy" is missing.*groups/);
  });

  it('says what is wrong with a token', async () => {
    const expired = await provider.accessToken('ann', { exp: Math.floor(Date.now() / 1_000) - 60 });
    const { code, steps } = await walked(['--token-file', '-'], expired);
    expect([code, steps.at(-1)]).toMatchObject([
      1,
      { step: 'Checks', outcome: 'failed', message: expect.stringContaining('expired') },
    ]);
  });

  it('waits for a person who enters a code elsewhere', async () => {
    const test = walked(['--device']);
    await expect.poll(() => provider.userCodes().length, { timeout: 60_000 }).toBe(1);
    expect(provider.enterCode(provider.userCodes()[0] ?? '', 'ann')).toBe(true);
    const { code, steps } = await test;
    expect([code, steps.at(-1)]).toMatchObject([0, { step: 'Policies', outcome: 'ok' }]);
    expect(steps.find(({ step }) => step === 'Token')?.message).toContain('for the code');
  });

  it('says where the way breaks before anybody signs in', async () => {
    provider.fail('discovery', { kind: 'status', status: 404 });
    const { code, steps } = await walked(['--user', 'ann'], 'ann-password\n');
    expect([code, steps.at(-1)]).toMatchObject([
      1,
      { step: 'Discovery', outcome: 'failed', message: expect.stringContaining('answered 404') },
    ]);
  });

  it('names the configurations that there are where there is none of the name', async () => {
    const { code, stderr } = await attempt(['idp', 'openid', 'test', 's', 'OTHER']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('configured: MAIN')]);
  });

  it('takes one way at a time', async () => {
    const { code, stderr } = await attempt(['idp', 'openid', 'test', 's', 'MAIN', '--device', '--user', 'ann']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Give one of')]);
  });
});

describe('at the end', () => {
  it('disables and removes the provider', async () => {
    await coffer('idp', 'openid', 'disable', 's', 'MAIN');
    expect(await coffer('idp', 'openid', 'list', 's')).toMatch(/MAIN +disabled/);
    const off = await attempt(['idp', 'openid', 'test', 's', 'MAIN', '--user', 'ann'], 'ann-password\n');
    expect([off.code, off.stdout.toString()]).toEqual([1, expect.stringContaining('is switched off')]);
    await coffer('idp', 'openid', 'enable', 's', 'MAIN');
    await coffer('idp', 'openid', 'remove', 's', 'MAIN');
    const { code, stderr } = await attempt(['idp', 'openid', 'info', 's', 'MAIN']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unable to show the configuration `MAIN`')]);
  });
});

describe('coffer idp openid add --provider', () => {
  it('fills in what is particular, and lets what is given win', async () => {
    const words = [
      'url=https://idp.example.com/',
      'realm=company',
      'client_id=coffer',
      'client_secret=-',
      'claim_name=groups',
    ];
    const { code, stdout } = await attempt(
      ['idp', 'openid', 'add', '--force', '--provider', 'keycloak', 's', 'COMPANY', ...words],
      'hunter2\n',
    );
    expect([code, stdout.toString()]).toEqual([
      0,
      expect.stringContaining('Keycloak: Keycloak puts a claim into tokens only by a mapper'),
    ]);
    const saved = await coffer('idp', 'openid', 'info', 's', 'COMPANY');
    expect(saved).toMatch(
      /config_url: +https:\/\/idp\.example\.com\/realms\/company\/\.well-known\/openid-configuration/,
    );
    expect(saved).toMatch(/keycloak_admin_url: +https:\/\/idp\.example\.com\/admin\n/);
    expect(saved).toMatch(/claim_name: +groups/);
    await coffer('idp', 'openid', 'remove', 's', 'COMPANY');
  });

  it.each([
    [
      ['--provider', 'keycloak', 's', 'X', 'realm=company'],
      'Keycloak needs url=https://idp.example.com, with the value of yours',
    ],
    [
      ['--provider', 'keycloack', 's', 'X', 'url=https://x.example'],
      'There is no recipe for `keycloack`; there are keycloak, entra',
    ],
  ])('refuses %j', async (args, says) => {
    const { code, stderr } = await attempt(['idp', 'openid', 'add', ...args]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
  });
});
