import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let server: RunningServer;
let folder: string;
let mc: StockMc;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-anonymous-'));
  server = await startServer();
  await untilReady(server);
  mc = new StockMc(folder);
  await mc.alias('c', server.s3, server.accessKey, server.secretKey);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

let bucket: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  bucket = `open-${count}`;
  await writeFile(join(folder, 'file'), 'content');
  await mc.run('mb', `c/${bucket}`);
  await mc.run('cp', '--quiet', join(folder, 'file'), `c/${bucket}/site/file`);
});

/** The status of each request without credentials. */
async function statuses(): Promise<Record<string, number>> {
  const url = `${server.s3}/${bucket}`;
  const ask = async (method: string, target: string, body?: string) =>
    (await fetch(`${url}${target}`, { method, ...(body !== undefined && { body }) })).status;
  return {
    list: await ask('GET', '?list-type=2'),
    read: await ask('GET', '/site/file'),
    write: await ask('PUT', '/inbox/new', 'x'),
    remove: await ask('DELETE', '/inbox/new'),
  };
}

describe('stock mc anonymous', { timeout: 180_000 }, () => {
  it.each([
    ['download', { list: 200, read: 200, write: 403, remove: 403 }],
    ['upload', { list: 403, read: 403, write: 200, remove: 204 }],
    ['public', { list: 200, read: 200, write: 200, remove: 204 }],
    ['private', { list: 403, read: 403, write: 403, remove: 403 }],
  ])('set %s opens what it says, and get tells so', async (permission, expected) => {
    await mc.run('anonymous', 'set', permission, `c/${bucket}`);
    expect(await mc.run('anonymous', 'get', `c/${bucket}`)).toMatchObject([{ status: 'success', permission }]);
    expect(await statuses()).toEqual(expected);
    await mc.run('anonymous', 'set', 'none', `c/${bucket}`);
    expect(await statuses()).toEqual({ list: 403, read: 403, write: 403, remove: 403 });
  });

  it('set opens a prefix, and list and links tell which', async () => {
    await mc.run('anonymous', 'set', 'download', `c/${bucket}/site/`);
    await mc.run('anonymous', 'set', 'upload', `c/${bucket}/inbox/`);
    expect(await statuses()).toEqual({ list: 403, read: 200, write: 200, remove: 204 });
    const listed = await mc.run('anonymous', 'list', `c/${bucket}`);
    expect(listed.map(({ resource }) => String(resource)).sort()).toEqual([`${bucket}/inbox/*`, `${bucket}/site/*`]);
    const links = JSON.stringify(await mc.run('anonymous', 'links', '--recursive', `c/${bucket}`));
    expect(links).toContain(`${server.s3}/${bucket}/site/file`);
  });

  it('set-json sets a policy, and get says custom', async () => {
    const statement = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${bucket}/site/f*`,
    };
    await writeFile(join(folder, 'policy.json'), JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
    await mc.run('anonymous', 'set-json', join(folder, 'policy.json'), `c/${bucket}`);
    expect(await mc.run('anonymous', 'get', `c/${bucket}`)).toMatchObject([{ permission: 'custom' }]);
    expect(JSON.stringify(await mc.run('anonymous', 'get-json', `c/${bucket}`))).toContain('site/f*');
    expect(await statuses()).toMatchObject({ list: 403, read: 200, write: 403 });
  });
});
