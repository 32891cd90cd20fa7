import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const mcPath = tool('bin/mc', 'mc');
let server: RunningServer;
let folder: string;

/** Runs stock `mc` and expects it to succeed. */
async function mc(...args: string[]): Promise<string> {
  const result = await runCommand(mcPath, ['--config-dir', join(folder, 'mc'), '--disable-pager', ...args]);
  expect(result, `mc ${args.join(' ')}\n${result.stdout}${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}

async function mcJson(...args: string[]): Promise<Record<string, unknown>[]> {
  const output = await mc('--json', ...args);
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-'));
  server = await startServer();
  await untilReady(server);
  await mc('alias', 'set', 'coffer', server.s3, server.accessKey, server.secretKey);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('stock mc', () => {
  it('refuses an alias with a wrong secret key', async () => {
    const args = [
      '--config-dir',
      join(folder, 'mc'),
      'alias',
      'set',
      'wrong',
      server.s3,
      server.accessKey,
      'not-the-secret',
    ];
    const result = await runCommand(mcPath, args);
    expect(result.code).toBe(1);
    expect(result.stdout + result.stderr).toMatch(/signature/i);
  });

  it('makes a token with which Prometheus reads the metrics', async () => {
    const configuration = await mc('admin', 'prometheus', 'generate', 'coffer');
    const token = /bearer_token: (\S+)/.exec(configuration)?.[1];
    const path = /metrics_path: (\S+)/.exec(configuration)?.[1];
    const answer = await fetch(`${server.s3}${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(path).toBe('/minio/v2/metrics/cluster');
    expect(answer.status, await answer.text()).toBe(200);
  });

  it('makes a bucket and lists it', async () => {
    await mc('mb', 'coffer/first');
    expect(await mc('ls', 'coffer')).toContain('first/');
  });

  it('copies a small file in, shows and stats it', async () => {
    const file = join(folder, 'small.txt');
    await writeFile(file, 'hello from mc\n');
    await mc('mb', 'coffer/small');
    await mc('cp', file, 'coffer/small/folder/small.txt');
    expect(await mc('cat', 'coffer/small/folder/small.txt')).toBe('hello from mc\n');
    const [stat] = await mcJson('stat', 'coffer/small/folder/small.txt');
    expect(stat).toMatchObject({ status: 'success', size: 14, type: 'file' });
  });

  it('copies a 100 MiB file in by multipart and back, whole', async () => {
    const file = join(folder, 'large.bin');
    const content = randomBytes(100 * 2 ** 20);
    await writeFile(file, content);
    await mc('mb', 'coffer/large');
    await mc('cp', '--quiet', file, 'coffer/large/large.bin');
    await mc('cp', '--quiet', 'coffer/large/large.bin', join(folder, 'back.bin'));
    const back = await readFile(join(folder, 'back.bin'));
    expect(createHash('sha256').update(back).digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
  });

  it('copies a folder in, lists it recursively and removes it', async () => {
    const source = join(folder, 'tree');
    await mkdir(join(source, 'b'), { recursive: true });
    await writeFile(join(source, 'a.txt'), 'a');
    await writeFile(join(source, 'b', 'c d+e.txt'), 'c');
    await mc('mb', 'coffer/tree');
    await mc('cp', '--recursive', `${source}/`, 'coffer/tree/');
    const listed = await mcJson('ls', '-r', 'coffer/tree');
    expect(listed.map((entry) => entry['key'])).toEqual(['a.txt', 'b/c d+e.txt']);
    await mc('rm', '-r', '--force', 'coffer/tree');
    expect(await mcJson('ls', '-r', 'coffer/tree')).toEqual([]);
    await mc('rb', 'coffer/tree');
  });

  it('finds the bucket with mc stat', async () => {
    await mc('mb', 'coffer/stat-bucket');
    const [stat] = await mcJson('stat', 'coffer/stat-bucket');
    expect(stat).toMatchObject({ status: 'success' });
  });

  it('removes a bucket with its objects by force', async () => {
    await mc('mb', 'coffer/forced');
    await writeFile(join(folder, 'x'), 'x');
    await mc('cp', join(folder, 'x'), 'coffer/forced/x');
    await mc('rb', '--force', 'coffer/forced');
    expect(await mc('ls', 'coffer')).not.toContain('forced/');
  });

  it('says that the cluster is ready', async () => {
    expect(await mcJson('ready', 'coffer')).toMatchObject([{ healthy: true }]);
  });

  it('pings', async () => {
    const [ping] = await mcJson('ping', '--count', '1', 'coffer');
    expect(ping).toMatchObject({ status: 'success' });
  });

  it('shows the service information', async () => {
    const [info] = await mcJson('admin', 'info', 'coffer');
    expect(info).toMatchObject({ status: 'success', info: { mode: 'online' } });
  });

  it('shows how much is stored, with admin info and with stat of a bucket', async () => {
    await mc('mb', 'coffer/counted');
    await writeFile(join(folder, 'counted'), Buffer.alloc(2_000));
    for (const key of ['a', 'b']) await mc('cp', join(folder, 'counted'), `coffer/counted/${key}`);
    const { value } = await adminCall(server.s3, server, 'POST', '/minio/admin/coffer/v1/usage');
    const { objects, bytes } = (value as { readonly usage: { readonly objects: number; readonly bytes: number } })
      .usage;
    expect(await mc('admin', 'info', 'coffer')).toMatch(
      new RegExp(`[\\d.]+ [KM]iB Used, \\d+ Buckets, ${objects} Objects`),
    );
    const [info] = await mcJson('admin', 'info', 'coffer');
    expect(info).toMatchObject({ info: { objects: { count: objects }, usage: { size: bytes } } });
    expect(await mc('stat', 'coffer/counted')).toMatch(
      /Total size: 3\.9 KiB\s+Objects count: 2\s[\s\S]*2 object\(s\) BETWEEN_1024_B_AND_64_KB/,
    );
  });

  it('shares an upload by a form', async () => {
    await mc('mb', 'coffer/shared');
    const [shared] = await mcJson('share', 'upload', 'coffer/shared/folder/file.txt');
    const command = String(shared?.['share']);
    const form = new FormData();
    for (const [, name = '', value = ''] of command.matchAll(/-F ([\w-]+)=(\S+)/g)) {
      if (name !== 'file') form.append(name, value);
    }
    form.append('file', new Blob(['from a form of mc']), 'file.txt');
    const url = /curl (\S+)/.exec(command)?.[1] ?? '';
    const answer = await fetch(url, { method: 'POST', body: form });
    expect([answer.status, await answer.text()], command).toEqual([204, '']);
    expect(await mc('cat', 'coffer/shared/folder/file.txt')).toBe('from a form of mc');
  });

  it('sets, shows and removes the CORS configuration of a bucket', async () => {
    await mc('mb', 'coffer/ruled');
    const file = join(folder, 'cors.xml');
    const rule = '<AllowedOrigin>https://app.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>';
    await writeFile(file, `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`);
    await mc('cors', 'set', 'coffer/ruled', file);
    expect(await mc('cors', 'get', 'coffer/ruled')).toContain('https://app.example');
    await mc('cors', 'remove', 'coffer/ruled');
  });
});
