import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutBucketTaggingCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer, type CofferResult } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::photos/*'] }],
};

let server: RunningServer;
let folder: string;

async function attempt(args: readonly string[], input?: string): Promise<CofferResult> {
  const options = input === undefined ? {} : { input };
  return runCoffer(['--config-dir', join(folder, 'config'), ...args], options);
}

/** What a command prints for people; it must succeed without a warning. */
async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(args);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

async function json(...args: string[]): Promise<Record<string, unknown>[]> {
  const lines = (await coffer('--json', ...args)).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** With an answer for what is asked. */
async function answering(input: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(args, input);
  expect({ code, stderr }, `coffer ${args.join(' ')}`).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('<'),
  });
  return stdout.toString('utf8');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-admin-'));
  server = await startServer();
  await untilReady(server);
  await attempt(['alias', 'set', 's', server.s3, server.accessKey, server.secretKey]);
  await writeFile(join(folder, 'reading.json'), JSON.stringify(reading));
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('coffer admin user', () => {
  it('makes a user whose secret key is asked for, and says how to go on', async () => {
    const said = await answering('ann-password\n', 'admin', 'user', 'add', 's', 'ann');
    expect(said).toContain('Added user `ann` successfully.');
    expect(said).toContain('coffer admin policy attach s readwrite --user ann');
    const alias = await attempt(['alias', 'set', 'ann', server.s3, 'ann'], 'ann-password\n');
    expect([alias.code, alias.stderr]).toEqual([0, '']);
  });

  it('warns of a secret key on the command line, and never prints it', async () => {
    const { code, stdout, stderr } = await attempt(['admin', 'user', 'add', 's', 'bob', 'bob-password']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/<WARNING> .*secret key of bob.*command line/)]);
    expect(stdout.toString() + stderr).not.toContain('bob-password');
    const rejected = await attempt(['admin', 'user', 'add', 's', 'carl', 'short']);
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('Unable to add the user `carl`')]);
    expect(rejected.stderr).not.toContain('short');
  });

  it.each(['ümit', 'dom\\bob', 'user name'])('makes %j, who can sign', async (name) => {
    await answering('secret-of-it\n', 'admin', 'user', 'add', 's', name);
    const alias = await attempt(['alias', 'set', 'named', server.s3, name], 'secret-of-it\n');
    expect([alias.code, alias.stderr]).toEqual([0, '']);
    await coffer('admin', 'user', 'rm', 's', name);
  });

  it('says what is missing where nothing comes on standard input', async () => {
    const { code, stderr } = await attempt(['admin', 'user', 'add', 's', 'dora']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The secret key of dora is missing')]);
  });

  it('lists users as a table, and in the fields of stock clients', async () => {
    await coffer('admin', 'group', 'add', 's', 'staff', 'ann', 'bob');
    expect(await coffer('admin', 'user', 'list', 's')).toMatch(
      /^USER +STATUS +POLICIES +GROUPS\nann +enabled +- +staff\n/,
    );
    expect(await json('admin', 'user', 'ls', 's')).toEqual([
      { status: 'success', accessKey: 'ann', userStatus: 'enabled', memberOf: [{ name: 'staff', policies: [] }] },
      { status: 'success', accessKey: 'bob', userStatus: 'enabled', memberOf: [{ name: 'staff', policies: [] }] },
    ]);
  });

  it('disables, enables and removes a user', async () => {
    await coffer('admin', 'user', 'disable', 's', 'bob');
    expect(await json('admin', 'user', 'info', 's', 'bob')).toMatchObject([{ userStatus: 'disabled' }]);
    await coffer('admin', 'user', 'enable', 's', 'bob');
    await coffer('admin', 'user', 'remove', 's', 'bob');
    const { code, stderr } = await attempt(['admin', 'user', 'info', 's', 'bob']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no user "bob"')]);
  });
});

describe('coffer admin policy', () => {
  it('creates, shows, attaches and explains', async () => {
    await coffer('admin', 'policy', 'create', 's', 'photos', join(folder, 'reading.json'));
    expect(await json('admin', 'policy', 'info', 's', 'photos')).toMatchObject([
      { policy: 'photos', policyInfo: { PolicyName: 'photos', Policy: reading } },
    ]);
    expect(await json('admin', 'policy', 'attach', 's', 'photos', '--user', 'ann')).toEqual([
      { status: 'success', policiesAttached: ['photos'], user: 'ann' },
    ]);
    await coffer('admin', 'policy', 'attach', 's', 'photos', '--group', 'staff');
    expect(await coffer('admin', 'policy', 'entities', 's', '--user', 'ann')).toMatch(/ann +photos +staff \(photos\)/);
    expect(await json('admin', 'policy', 'entities', 's', '--policy', 'photos')).toMatchObject([
      { result: { policyMappings: [{ policy: 'photos', users: ['ann'], groups: ['staff'] }] } },
    ]);
    expect(await json('admin', 'user', 'policy', 's', 'ann')).toMatchObject([{ Statement: reading.Statement }]);

    const allowed = await coffer('admin', 'policy', 'explain', 's', 'ann', 's3:GetObject', 'photos/1.jpg');
    expect(allowed).toMatch(/photos/);
    const [decision] = await json('admin', 'policy', 'explain', 's', 'ann', 's3:PutObject', 'photos/1.jpg');
    expect(decision).toMatchObject({ user: 'ann', text: expect.stringContaining('photos') });
  });

  it('takes a policy from standard input, and refuses what is no JSON before anything is sent', async () => {
    await answering(JSON.stringify(reading), 'admin', 'policy', 'create', 's', 'piped', '-');
    const { code, stderr } = await attempt(['admin', 'policy', 'create', 's', 'broken', '-'], '{');
    expect([code, stderr]).toEqual([1, expect.stringContaining('is no policy: it is no JSON')]);
  });

  it('says whose policies it needs, and who still has one that is removed', async () => {
    const nobody = await attempt(['admin', 'policy', 'attach', 's', 'photos']);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('`--user NAME` or `--group NAME`')]);
    const used = await attempt(['--json', 'admin', 'policy', 'remove', 's', 'photos']);
    expect(JSON.parse(used.stdout.toString())).toMatchObject({
      status: 'error',
      error: { cause: { error: { Code: 'XMinioAdminPolicyInUse' } } },
    });
  });

  it('writes the document of a policy into a file', async () => {
    const file = join(folder, 'written.json');
    await coffer('admin', 'policy', 'info', 's', 'photos', '--policy-file', file);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(reading);
  });
});

describe('coffer admin accesskey', () => {
  it('makes one of its own, whose secret key is shown once', async () => {
    const [made] = await json('admin', 'accesskey', 'create', 'ann', '--name', 'backup', '--expiry-duration', '24h');
    expect(made).toMatchObject({ accessKey: expect.any(String), secretKey: expect.any(String), name: 'backup' });
    const key = String(made?.['accessKey']);
    expect(await json('admin', 'accesskey', 'info', 's', key)).toMatchObject([
      { accessKey: key, parentUser: 'ann', accountStatus: 'on', impliedPolicy: true, name: 'backup' },
    ]);
    expect(await coffer('admin', 'accesskey', 'list', 'ann', '--self')).toMatch(
      new RegExp(`ann +${key} +access key +on`),
    );
    await coffer('admin', 'accesskey', 'disable', 's', key);
    expect(await json('admin', 'accesskey', 'info', 's', key)).toMatchObject([{ accountStatus: 'off' }]);
    await coffer('admin', 'accesskey', 'rm', 's', key);
  });

  it('makes one for another with a policy and given keys, and edits it', async () => {
    const file = join(folder, 'reading.json');
    const args = ['admin', 'user', 'svcacct', 'add', 's', 'ann', '--access-key', 'svcann1', '--secret-key', '-'];
    await answering('svc-password\n', ...args, '--policy', file, '--description', 'for scripts');
    expect(await json('admin', 'user', 'svcacct', 'info', 's', 'svcann1')).toMatchObject([
      { parentUser: 'ann', policy: reading, description: 'for scripts' },
    ]);
    await coffer('admin', 'user', 'svcacct', 'edit', 's', 'svcann1', '--name', 'renamed', '--expiry', '2035-01-31');
    expect(await json('admin', 'accesskey', 'info', 's', 'svcann1')).toMatchObject([
      { name: 'renamed', expiration: '2035-01-31T00:00:00Z' },
    ]);
    expect(await json('admin', 'user', 'svcacct', 'ls', 's', 'ann')).toMatchObject([{ accessKey: 'svcann1' }]);
    await coffer('admin', 'user', 'svcacct', 'rm', 's', 'svcann1');
  });

  it('refuses times that are none, and an edit of nothing', async () => {
    for (const [args, message] of [
      [['create', 's', '--expiry', 'tomorrow'], 'Invalid --expiry `tomorrow`'],
      [['create', 's', '--expiry-duration', 'long'], 'Invalid --expiry-duration `long`'],
      [['edit', 's', 'KEY'], 'Say what shall change of `KEY`'],
      [['sts-revoke', 's'], 'name a user, or give --self'],
      [['sts-revoke', 's', 'ann'], '--all, or --token-type LABEL'],
    ] as const) {
      const { code, stderr } = await attempt(['admin', 'accesskey', ...args]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
  });

  it('ends temporary credentials', async () => {
    expect(await json('admin', 'accesskey', 'sts-revoke', 's', 'ann', '--all')).toEqual([
      { status: 'success', user: 'ann', fullRevoke: true },
    ]);
  });
});

describe('coffer admin group', () => {
  it('shows, disables and removes a group', async () => {
    expect(await json('admin', 'group', 'list', 's')).toEqual([{ status: 'success', groups: ['staff'] }]);
    expect(await json('admin', 'group', 'info', 's', 'staff')).toMatchObject([
      { groupName: 'staff', members: ['ann'], groupStatus: 'enabled', groupPolicy: 'photos' },
    ]);
    await coffer('admin', 'group', 'disable', 's', 'staff');
    expect(await coffer('admin', 'group', 'info', 's', 'staff')).toMatch(/Status: +disabled\s+Policies: +photos\s/);
    const full = await attempt(['admin', 'group', 'remove', 's', 'staff']);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('Unable to remove from the group `staff`')]);
    await coffer('admin', 'group', 'remove', 's', 'staff', 'ann');
    await coffer('admin', 'policy', 'detach', 's', 'photos', '--group', 'staff');
    await coffer('admin', 'group', 'remove', 's', 'staff');
  });
});

describe('coffer admin config', () => {
  it('shows the subsystems, the settings of one, and what can be set', async () => {
    expect(await coffer('admin', 'config', 'get', 's')).toMatch(/SUBSYSTEM[^]*identity_openid/);
    expect(await json('admin', 'config', 'get', 's', 'site')).toMatchObject([{ config: [{ subSystem: 'site' }] }]);
    expect(await coffer('admin', 'config', 'set', 's', 'identity_openid')).toMatch(/config_url \(needed\)/);
    for (const args of [['set'], ['reset', '--env']]) {
      expect(await coffer('--quiet', 'admin', 'config', ...args, 's', 'identity_openid')).toMatch(/config_url/i);
    }
    expect(await json('admin', 'config', 'history', 's')).toEqual([{ status: 'success', entries: [] }]);
  });

  it('names a subsystem that there is not', async () => {
    const { code, stderr } = await attempt(['admin', 'config', 'get', 's', 'nothing']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing')]);
  });

  it('exports into a file that only its owner reads', async () => {
    const file = join(folder, 'settings.txt');
    await coffer('admin', 'config', 'export', 's', '--output', file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain('identity_openid');
    expect(await coffer('admin', 'config', 'import', 's', file)).toContain('in effect');
  });
});

describe('coffer admin cluster iam', () => {
  it('brings identities into an archive and back', async () => {
    const file = join(folder, 'identities.zip');
    // It replaces a file that others could read.
    await writeFile(file, 'an older archive');
    await chmod(file, 0o644);
    await coffer('admin', 'cluster', 'iam', 'export', 's', '--output', file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await coffer('admin', 'user', 'remove', 's', 'ann');
    expect(await coffer('admin', 'cluster', 'iam', 'import', 's', file)).toMatch(/1 user\b/);
    expect(await json('admin', 'user', 'info', 's', 'ann')).toMatchObject([{ policyName: 'photos' }]);
  });
});

/** Something that is set for a bucket. */
async function tagged(Bucket: string): Promise<void> {
  const tags = { TagSet: [{ Key: 'a', Value: 'b' }] };
  await s3Client(server).send(new PutBucketTaggingCommand({ Bucket, Tagging: tags }));
}

describe('coffer admin cluster bucket', () => {
  it('brings what is set for buckets into an archive and back, for all or for one', async () => {
    await coffer('mb', 's/moved', 's/other');
    await Promise.all(['moved', 'other'].map(tagged));
    const file = join(folder, 'buckets.zip');
    expect(await coffer('admin', 'cluster', 'bucket', 'export', 's', '--output', file)).toContain('objects are not');
    await coffer('rb', 's/moved', 's/other');
    expect(await coffer('admin', 'cluster', 'bucket', 'import', 's/moved', file)).toContain('moved');
    expect(await coffer('ls', 's')).toMatch(/moved/);
    expect(await coffer('ls', 's')).not.toMatch(/other/);
    await coffer('rb', 's/moved');
  });

  it('says what is no archive, and which bucket is not in it', async () => {
    const file = join(folder, 'one.zip');
    await coffer('mb', 's/moved');
    await tagged('moved');
    await coffer('admin', 'cluster', 'bucket', 'export', 's/moved', '--output', file);
    await coffer('rb', 's/moved');
    const missing = await attempt(['admin', 'cluster', 'bucket', 'import', 's/else', file]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('it has no else')]);
    const junk = await attempt(['admin', 'cluster', 'bucket', 'import', 's', join(folder, 'p.json')]);
    expect(junk.code).toBe(1);
    const key = await attempt(['admin', 'cluster', 'bucket', 'export', 's/moved/key']);
    expect([key.code, key.stderr]).toEqual([1, expect.stringContaining('name a server, or one of its buckets')]);
  });
});

describe('without a key service', () => {
  it('says that none is configured', async () => {
    const { code, stderr } = await attempt(['admin', 'kms', 'key', 'create', 's', 'my-key']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Unable to create the key `my-key`\. No key service/)]);
  });
});

describe('an alias', () => {
  it('without keys administers nothing', async () => {
    await coffer('alias', 'set', 'nobody', server.s3, '', '');
    const { code, stderr } = await attempt(['admin', 'user', 'list', 'nobody']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The alias `nobody` has no keys')]);
  });

  it('is named where a user lacks the right', async () => {
    const { code, stderr } = await attempt(['admin', 'user', 'list', 'ann']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unable to list the users of `ann`. Access Denied')]);
  });
});

describe('the help of commands', () => {
  it('has examples', async () => {
    for (const args of [
      ['admin', 'user', 'add'],
      ['admin', 'idp', 'openid', 'add'],
      ['idp', 'openid', 'test'],
      ['admin', 'kms', 'key', 'create'],
    ]) {
      expect(await coffer(...args, '--help')).toContain(`Examples:\n  coffer ${args.join(' ')} mine`);
    }
  });
});
