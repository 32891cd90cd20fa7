import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readZip } from '../../server/administration/zip.ts';
import { StockMc } from '../minio-client/stock-mc.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { type Deployment, newDeployment } from './deployment.ts';

type Line = Readonly<Record<string, unknown>>;

const local = ['--airgap', '--dev'];
let deployment: Deployment;
let servers: readonly RunningServer[] = [];
let folder: string;
let mc: StockMc;
let hosts: readonly string[] = [];

beforeAll(async () => {
  [deployment, folder] = await Promise.all([newDeployment(), mkdtemp(join(tmpdir(), 'coffer-mc-replicas-'))]);
  servers = await Promise.all([deployment.start(), deployment.start()]);
  hosts = servers.map(({ s3 }) => new URL(s3).host).toSorted();
  mc = new StockMc(folder);
  const [asked] = servers as [RunningServer];
  await mc.alias('c', asked.s3, asked.accessKey, asked.secretKey);
}, 540_000);
afterAll(async () => {
  await deployment?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Gathers the values of a field until there are those of both servers. */
function ofBoth(field: (line: Line) => unknown): {
  readonly fits: (line: Line) => boolean;
  readonly seen: Set<string>;
} {
  const seen = new Set<string>();
  const fits = (line: Line) => {
    const value = field(line);
    if (typeof value === 'string' && value !== '') seen.add(value);
    return seen.size === hosts.length;
  };
  return { fits, seen };
}

const request = () => Promise.all(servers.map(({ s3 }) => fetch(`${s3}/no-such-bucket/key`)));

describe('stock mc, of one of two servers', { timeout: 540_000 }, () => {
  it('traces the requests of both', async () => {
    const { fits, seen } = ofBoth((line) => line['host']);
    await mc.untilPrinted(['admin', 'trace', 'c'], fits, request);
    expect([...seen].toSorted()).toEqual(hosts);
  });

  it('shows the logs of both', async () => {
    const { fits, seen } = ofBoth((line) => line['node']);
    await mc.untilPrinted(['admin', 'logs', 'c'], fits);
    expect([...seen].toSorted()).toEqual(hosts);
  });

  it('shows the log of the named one alone', async () => {
    const [other = '', named = ''] = hosts;
    const seen: string[] = [];
    // mc leaves the name of the server out. The lines of its start name its address.
    await mc.untilPrinted(['admin', 'logs', 'c', named], ({ ConsoleMsg, message }) => {
      seen.push(String(ConsoleMsg));
      return message === 'ready';
    });
    expect(seen.join('')).toContain(named);
    expect(seen.join('')).not.toContain(other);
  });

  it('has both in top net', async () => {
    const reports = await mc.run('support', 'top', 'net', ...local, '-n', '1', 'c');
    expect(reports.at(-1)).toMatchObject({
      hosts: expect.toSatisfy((of: string[]) => of.toSorted().join() === hosts.join()) as unknown,
    });
  });

  it('has the profiles of both', async () => {
    await mc.run('support', 'profile', ...local, '--type', 'cpu', '--duration', '10', 'c');
    const files = await readZip(await readFile(join(folder, 'profile.zip')), { entries: 100, size: 2 ** 28 });
    const folders = new Set(files.map(({ name }) => name.split('/')[0]));
    expect(folders).toEqual(new Set(hosts.map((host) => host.replace(':', '_'))));
  });
});
