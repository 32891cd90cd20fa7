import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { expectSame, StockMc } from './stock-mc.ts';

const rootUser = 'minio-root';
const rootPassword = 'minio-password';
const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};
/** A command starts `mc` twice, on a machine that does other things too. */
const patience = 240_000;

let folder: string;
let mc: StockMc;
let coffer: RunningServer;
let minio: RunningMinio;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-identities-'));
  mc = new StockMc(folder);
  await writeFile(join(folder, 'p.json'), JSON.stringify(reading));
  await writeFile(join(folder, 'broken.json'), '{"Statement": 1}');
  [coffer, minio] = await Promise.all([
    startServer({ env: { SVC_ROOT_USER: rootUser, SVC_ROOT_PASSWORD: rootPassword } }),
    startMinio(),
  ]);
  await untilReady(coffer);
  await mc.alias('coffer', coffer.s3, rootUser, rootPassword);
  await mc.alias('minio', minio.url, minio.accessKey, minio.secretKey);
}, 360_000);

afterAll(async () => {
  await coffer?.stop();
  await minio?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The commands one after the other, each with the same answer of both. */
async function same(...commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    await expectSame(mc, command.replaceAll('FOLDER', folder), ['coffer', 'minio']);
  }
}

describe('users of every name that a MinIO takes', { timeout: patience }, () => {
  it.each(['team:ann', 'dom\\bob', "O'Brien", 'user name', 'ümit', '<x>;"y"'])(
    'are made, and sign: %j',
    async (name) => {
      await mc.run('admin', 'user', 'add', 'coffer', name, 'secret-of-it');
      await mc.run('admin', 'policy', 'attach', 'coffer', 'readwrite', '--user', name);
      await mc.alias('named', coffer.s3, name, 'secret-of-it');
      const bucket = `b${Buffer.from(name).toString('hex')}`;
      await mc.run('mb', `named/${bucket}`);
      expect(await mc.run('ls', 'named')).toContainEqual(expect.objectContaining({ key: `${bucket}/` }));
      const [made] = await mc.run('admin', 'user', 'svcacct', 'add', 'named', name);
      expect(made).toMatchObject({ status: 'success' });
      await mc.run('rb', `named/${bucket}`);
      await mc.run('admin', 'user', 'rm', 'coffer', name);
    },
  );
});

describe('stock mc has the same answers of Coffer and of MinIO', { timeout: patience }, () => {
  it('to admin user', () =>
    same(
      'admin user add ALIAS ann annpassword',
      'admin user add ALIAS bob bobpassword',
      'admin user add ALIAS x bobpassword',
      'admin user add ALIAS carl short',
      'admin user ls ALIAS',
      'admin user info ALIAS ann',
      'admin user info ALIAS nobody',
      'admin user disable ALIAS ann',
      'admin user info ALIAS ann',
      'admin user enable ALIAS ann',
      'admin user disable ALIAS nobody',
      'admin user rm ALIAS nobody',
    ));

  it('to admin group', () =>
    same(
      'admin group add ALIAS staff ann bob',
      'admin group add ALIAS other nobody',
      'admin group ls ALIAS',
      'admin group info ALIAS staff',
      'admin group info ALIAS nix',
      'admin group disable ALIAS staff',
      'admin group info ALIAS staff',
      'admin group enable ALIAS staff',
      'admin group rm ALIAS staff bob',
      'admin group rm ALIAS staff',
      'admin user info ALIAS ann',
    ));

  it('to admin policy', () =>
    same(
      'admin policy create ALIAS p FOLDER/p.json',
      'admin policy create ALIAS broken FOLDER/broken.json',
      'admin policy ls ALIAS',
      'admin policy info ALIAS p',
      'admin policy info ALIAS readonly',
      'admin policy info ALIAS consoleAdmin',
      'admin policy info ALIAS nix',
      'admin policy attach ALIAS p readonly --user ann',
      'admin policy attach ALIAS p --user ann',
      'admin policy attach ALIAS p --group staff',
      'admin policy attach ALIAS nix --user ann',
      'admin policy attach ALIAS p --user nobody',
      'admin policy attach ALIAS p --group nix',
      'admin policy entities ALIAS',
      'admin policy entities ALIAS --user ann',
      'admin policy entities ALIAS --user nobody',
      'admin policy entities ALIAS --group staff',
      'admin policy entities ALIAS --policy p',
      'admin policy rm ALIAS p',
      'admin policy rm ALIAS nix',
      'admin policy detach ALIAS p --user ann',
      'admin policy detach ALIAS p --user ann',
      'admin user info ALIAS ann',
      'admin user policy ALIAS ann',
      'admin group info ALIAS staff',
    ));

  it('to admin user svcacct', () =>
    same(
      'admin user svcacct add ALIAS ann --access-key svcann1 --secret-key svcannsecret --name n --description d --policy FOLDER/p.json',
      'admin user svcacct add ALIAS ann --access-key svcann1 --secret-key svcannsecret',
      'admin user svcacct add ALIAS bob',
      'admin user svcacct add ALIAS nobody',
      'admin user svcacct ls ALIAS ann',
      'admin user svcacct ls ALIAS bob',
      'admin user svcacct info ALIAS svcann1',
      'admin user svcacct info ALIAS svcann1 --policy',
      'admin user svcacct info ALIAS nokey',
      'admin user svcacct edit ALIAS svcann1 --name m --secret-key another-secret --policy FOLDER/p.json',
      'admin user svcacct info ALIAS svcann1',
      'admin user svcacct disable ALIAS svcann1',
      'admin user svcacct enable ALIAS svcann1',
      'admin user svcacct rm ALIAS svcann1',
      'admin user svcacct rm ALIAS svcann1',
    ));

  it('to admin accesskey', () =>
    same(
      'admin accesskey create ALIAS ann --access-key keyann1 --secret-key keyannsecret --name n --description d --expiry-duration 24h',
      'admin accesskey create ALIAS',
      'admin accesskey create ALIAS nobody',
      'admin accesskey ls ALIAS',
      'admin accesskey ls ALIAS --all',
      'admin accesskey ls ALIAS --self',
      'admin accesskey ls ALIAS --users-only',
      'admin accesskey ls ALIAS --svcacc-only',
      'admin accesskey ls ALIAS ann',
      'admin accesskey ls ALIAS nobody',
      'admin accesskey info ALIAS keyann1',
      'admin accesskey edit ALIAS keyann1 --name m',
      'admin accesskey info ALIAS keyann1',
      'admin accesskey disable ALIAS keyann1',
      'admin accesskey enable ALIAS keyann1',
      'admin accesskey rm ALIAS keyann1',
      'admin accesskey rm ALIAS keyann1',
    ));

  it('to what people do for themselves', async () => {
    await mc.alias('coffer-ann', coffer.s3, 'ann', 'annpassword');
    await mc.alias('minio-ann', minio.url, 'ann', 'annpassword');
    await same(
      'admin accesskey create ALIAS-ann --access-key ownkey1 --secret-key ownsecret1',
      'admin accesskey create ALIAS-ann bob',
      'admin accesskey ls ALIAS-ann',
      'admin accesskey ls ALIAS-ann --all',
      'admin accesskey info ALIAS-ann ownkey1',
      'admin user svcacct ls ALIAS-ann ann',
      'admin user svcacct ls ALIAS-ann bob',
      'admin user ls ALIAS-ann',
      'admin policy ls ALIAS-ann',
      'admin group ls ALIAS-ann',
      'admin accesskey rm ALIAS-ann ownkey1',
    );
  });

  it('to the removal of all of it', () =>
    same(
      'admin user rm ALIAS ann',
      'admin group info ALIAS staff',
      'admin group rm ALIAS staff',
      'admin policy rm ALIAS p',
      'admin user ls ALIAS',
      'admin group ls ALIAS',
      'admin policy entities ALIAS',
    ));
});

describe('an export of identities', { timeout: patience }, () => {
  beforeAll(async () => {
    for (const alias of ['coffer', 'minio']) {
      const name = (word: string) => `${word}-of-${alias}`;
      await mc.run('admin', 'user', 'add', alias, name('user'), 'user-password');
      await mc.run('admin', 'group', 'add', alias, name('group'), name('user'));
      await mc.run('admin', 'policy', 'create', alias, name('policy'), join(folder, 'p.json'));
      await mc.run('admin', 'policy', 'attach', alias, name('policy'), '--user', name('user'));
      await mc.run('admin', 'policy', 'attach', alias, 'readonly', '--group', name('group'));
      const keys = ['--access-key', `key${alias}`, '--secret-key', 'key-password', '--policy', join(folder, 'p.json')];
      await mc.run('admin', 'user', 'svcacct', 'add', alias, name('user'), ...keys);
    }
  }, patience);

  it.each([
    ['MinIO', 'Coffer', 'minio', 'coffer'],
    ['Coffer', 'MinIO', 'coffer', 'minio'],
  ])('of %s is imported by %s', async (_, __, from, to) => {
    const file = join(folder, `${from}.zip`);
    await mc.run('admin', 'cluster', 'iam', 'export', from, '--output', file);
    const name = (word: string) => `${word}-of-${from}`;
    const reports = await mc.run('admin', 'cluster', 'iam', 'import', to, file);
    expect(reports).toMatchObject([
      { added: { users: expect.arrayContaining([name('user')]) as string[] }, failed: {} },
    ]);
    const users = await mc.run('admin', 'user', 'info', to, name('user'));
    expect(users).toMatchObject([
      { policyName: name('policy'), memberOf: [{ name: name('group'), policies: ['readonly'] }] },
    ]);
    const keys = await mc.run('admin', 'user', 'svcacct', 'info', to, `key${from}`);
    expect(keys).toMatchObject([{ parentUser: name('user'), accountStatus: 'on', policy: reading }]);
    const url = to === 'coffer' ? coffer.s3 : minio.url;
    await mc.alias('moved', url, `key${from}`, 'key-password');
  });
});
