import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

const rootUser = 'minio-root';
const rootPassword = 'minio-password';
const patience = 240_000;
/** Where the audit log would go, were it on. */
const audit = {
  MINIO_AUDIT_WEBHOOK_ENABLE_SIEM: 'off',
  MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM: 'https://siem.example.org/',
  SVC_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM: 'Bearer token-of-the-siem',
};

let folder: string;
let mc: StockMc;
let coffer: RunningServer;
let minio: RunningMinio;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-service-'));
  mc = new StockMc(folder);
  // Its own port, which it has again after a restart: later options win.
  const args = ['--address', `127.0.0.1:${await freePort()}`];
  [coffer, minio] = await Promise.all([
    startServer({
      args,
      env: { SVC_ROOT_USER: rootUser, SVC_ROOT_PASSWORD: rootPassword, SVC_THREADS: '2', ...audit },
    }),
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

function isOfKey({ path }: Readonly<Record<string, unknown>>): boolean {
  return path === '/no-such-bucket/key';
}

function isReady({ message }: Readonly<Record<string, unknown>>): boolean {
  return message === 'ready';
}

function stopsOfCoffer(): number {
  return coffer.log.filter((line) => line.includes('"msg":"stopped"')).length;
}

describe('stock mc', { timeout: patience }, () => {
  it.each(['coffer', 'minio'])('traces requests of %s', async (alias) => {
    const url = alias === 'coffer' ? coffer.s3 : minio.url;
    const stir = () => fetch(`${url}/no-such-bucket/key`);
    const line = await mc.untilPrinted(['admin', 'trace', alias], isOfKey, stir);
    expect(line).toMatchObject({ status: 'success', api: 's3.GetObject', statusCode: 403, type: 'S3' });
    const verbose = await mc.untilPrinted(['admin', 'trace', '-v', '--errors', alias], () => true, stir);
    expect(verbose).toMatchObject({
      request: { method: 'GET', path: '/no-such-bucket/key' },
      response: { statusCode: 403 },
    });
  });

  it('shows the log', async () => {
    expect(await mc.untilPrinted(['admin', 'logs', 'coffer'], isReady)).toMatchObject({
      status: 'success',
      level: 'INFO',
    });
  });

  it.each(['cluster', 'node', 'bucket'])('reads the metrics %s', async (kind) => {
    const { text, code } = await mc.try('admin', 'prometheus', 'metrics', 'coffer', kind);
    expect(code, text).toBe(0);
  });

  it('moves what is set for buckets, both ways', async () => {
    const policy = {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Principal: { AWS: ['*'] }, Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::moved/*'] },
      ],
    };
    await writeFile(join(folder, 'anonymous.json'), JSON.stringify(policy));
    for (const [from, to] of [
      ['coffer', 'minio'],
      ['minio', 'coffer'],
    ] as const) {
      await mc.run('mb', `${from}/moved`);
      await mc.run('anonymous', 'set-json', join(folder, 'anonymous.json'), `${from}/moved`);
      await mc.run('tag', 'set', `${from}/moved`, 'team=a');
      await mc.run('admin', 'cluster', 'bucket', 'export', from);
      const file = join(folder, `${from}-bucket-metadata.zip`);
      expect((await readFile(file)).length).toBeGreaterThan(100);
      const reply = await mc.try('admin', 'cluster', 'bucket', 'import', to, file);
      expect(reply.code, reply.text).toBe(0);
      expect(JSON.stringify(await mc.run('anonymous', 'get-json', `${to}/moved`))).toContain('s3:GetObject');
      expect(JSON.stringify(await mc.run('tag', 'list', `${to}/moved`))).toContain('"team":"a"');
      await mc.run('rb', '--force', `${from}/moved`);
      await mc.run('rb', '--force', `${to}/moved`);
    }
  });

  it.each(['coffer', 'minio'])('freezes and thaws %s', async (alias) => {
    expect(await mc.run('admin', 'service', 'freeze', alias)).toEqual([{ status: 'success', serverURL: alias }]);
    expect(await mc.run('admin', 'service', 'unfreeze', alias)).toEqual([{ status: 'success', serverURL: alias }]);
    expect(await mc.run('ls', alias)).toEqual([]);
  });

  it.each([
    'admin heal ALIAS',
    'admin rebalance start ALIAS',
    'admin decommission status ALIAS',
    'admin replicate add ALIAS ALIAS',
    'admin scanner status ALIAS',
  ])('is told by Coffer what it does not have: mc %s', async (command) => {
    const { code, text } = await mc.try(...command.replaceAll('ALIAS', 'coffer').split(' '));
    expect(code, text).not.toBe(0);
    expect(text).not.toContain('InternalError');
  });

  it('sets up a directory only where it answers', async () => {
    expect((await mc.try('idp', 'ldap', 'ls', 'coffer')).code).toBe(0);
    const keys = ['server_addr=127.0.0.1:1', 'user_dn_search_base_dn=dc=org', 'user_dn_search_filter=(uid=%s)'];
    const { code, text } = await mc.try('idp', 'ldap', 'add', 'coffer', ...keys);
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('XMinioConfigError') as string });
    expect(text).toContain('The directory 127.0.0.1:1 cannot be used (Connection)');
    expect(JSON.stringify(await mc.run('admin', 'config', 'get', 'coffer', 'identity_ldap'))).toContain('"off"');
    expect((await mc.try('idp', 'ldap', 'rm', 'coffer')).text).toContain('XMinioAdminConfigIDPCfgNameDoesNotExist');
  });

  it('lists access keys of people of a directory', async () => {
    expect((await mc.try('idp', 'ldap', 'accesskey', 'ls', 'coffer')).code).toBe(0);
  });

  it('shows what is configured, and where it is changed', async () => {
    await mc.run('admin', 'config', 'get', 'coffer', 'site');
    expect(await mc.run('admin', 'config', 'history', 'coffer')).toMatchObject([{ entries: [] }]);
    expect((await mc.try('admin', 'config', 'export', 'coffer')).text).toContain('success');
    const { code, text } = await mc.try('admin', 'config', 'set', 'coffer', 'site', 'region=elsewhere');
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('SVC_REGION') as string });
  });

  it('shows where the audit log goes, and that the environment says so', async () => {
    const shown = JSON.stringify(await mc.run('admin', 'config', 'get', 'coffer', 'audit_webhook'));
    expect(shown).toContain('MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM');
    expect(shown).toContain('https://siem.example.org/');
    expect(shown).not.toContain('token-of-the-siem');
    expect((await mc.run('admin', 'config', 'get', 'coffer', 'audit_webhook:SIEM')).length).toBe(1);
    const change = ['admin', 'config', 'set', 'coffer', 'audit_webhook:SIEM', 'endpoint=https://else.example.org/'];
    const { code, text } = await mc.try(...change);
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('ENDPOINT_SIEM') as string });
    expect((await mc.try('admin', 'config', 'set', 'coffer', 'audit_webhook')).text).toContain('queue_dir');
  });

  it('restarts the server, and waits until it is there again', async () => {
    await mc.run('admin', 'service', 'restart', '--wait', 'coffer');
    expect(await mc.run('ls', 'coffer')).toEqual([]);
  });

  it('stops the server', async () => {
    await mc.run('admin', 'service', 'stop', 'coffer');
    // The restart before was a stop, too.
    await expect.poll(stopsOfCoffer, { timeout: 180_000 }).toBe(2);
  });
});
