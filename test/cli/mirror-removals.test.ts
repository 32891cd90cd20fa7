import { spawnSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();
let source: string;

beforeAll(async () => {
  await client.start(async () => {
    const server = await startServer();
    await untilReady(server);
    return {
      url: server.s3,
      accessKey: server.accessKey,
      secretKey: server.secretKey,
      stop: async () => void (await server.stop()),
    };
  });
  await client.run('mb', 's/box');
}, 180_000);

afterAll(() => client.stop());

/** The target has `a`, `b` and `c`, and the source is empty. */
beforeEach(async () => {
  source = client.path('source');
  await rm(source, { recursive: true, force: true });
  await mkdir(source);
  for (const name of ['a', 'b', 'c']) await client.file(`first/${name}`, name);
  await client.run('rm', '-r', '--force', 's/box/');
  await client.run('cp', '-r', client.path('first/'), 's/box');
});

async function mirror(...flags: string[]): Promise<readonly [number, string]> {
  const { code, stderr } = await client.attempt('mirror', '--overwrite', '--remove', ...flags, `${source}/`, 's/box');
  return [code, stderr];
}

describe('mirror --remove', () => {
  it('empties no target of an empty source, unless the user says how much may go', async () => {
    expect(await mirror()).toEqual([1, expect.stringContaining('--max-delete 3 allows it')]);
    expect(await client.keys('s/box')).toEqual(['a', 'b', 'c']);
    expect(await mirror('--max-delete', '3')).toEqual([0, '']);
    expect(await client.keys('s/box')).toEqual([]);
  });

  it('removes nothing where more than --max-delete would go, also not with --dry-run', async () => {
    await client.file('source/b', 'b');
    for (const more of [[], ['--dry-run']]) {
      expect(await mirror('--max-delete', '1', ...more)).toEqual([1, expect.stringContaining('More than 1 file')]);
      expect(await client.keys('s/box')).toEqual(['a', 'b', 'c']);
    }
    await mirror('--max-delete', '2');
    expect(await client.keys('s/box')).toEqual(['b']);
  });

  it.each([
    [['--max-delete', '1', '--watch'], 'without --watch'],
    [['--max-delete', 'all'], 'it is a whole number'],
  ])('refuses %j', async (flags, message) => {
    expect(await mirror(...flags)).toEqual([1, expect.stringContaining(message)]);
  });

  it.runIf(process.platform === 'linux')('goes on where an excluded name cannot be read', async () => {
    await client.file('source/b', 'b');
    expect(spawnSync('mkfifo', [`${source}/queue.tmp`]).status).toBe(0);
    await symlink('nowhere', `${source}/dangling.tmp`);
    await writeFile(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0xff]), Buffer.from('.tmp')]), '');
    expect(await mirror()).toEqual([1, expect.stringContaining('queue.tmp')]);
    expect(await client.keys('s/box')).toEqual(['a', 'b', 'c']);
    expect(await mirror('--exclude', '*.tmp')).toEqual([0, '']);
    expect(await client.keys('s/box')).toEqual(['b']);
  });

  it('keeps what the target has below an excluded link to a folder', async () => {
    await client.file('source/b', 'b');
    await client.file('elsewhere/f', 'f');
    await client.run('cp', client.path('elsewhere/f'), 's/box/k/f');
    await symlink(client.path('elsewhere'), `${source}/k`);
    expect(await mirror('--exclude', 'k')).toEqual([0, '']);
    expect(await client.keys('s/box')).toEqual(['b', 'k/f']);
  });
});

describe('mirror --exclude', () => {
  it.each([
    [['cache/*'], ['d/cache/x', 'd/x.log']],
    [['*/cache/*'], ['cache/x', 'd/x.log']],
    [['*.log'], ['cache/x', 'd/cache/x']],
    [['d/*'], ['cache/x']],
    [['cache/?'], ['d/cache/x', 'd/x.log']],
    [['x'], ['d/x.log']],
    [['SOURCE/d/*'], ['cache/x']],
  ])('%j leaves %j', async (patterns, left) => {
    for (const name of ['cache/x', 'd/cache/x', 'd/x.log']) await client.file(`source/${name}`, name);
    await client.run('rm', '-r', '--force', 's/box/');
    const flags = patterns.flatMap((one) => ['--exclude', one.replace('SOURCE', source)]);
    await client.run('mirror', ...flags, source, 's/box');
    expect(await client.keys('s/box')).toEqual(left);
  });

  it.each(['cache/', '/elsewhere/cache/*', './cache/*', '../x'])(
    'warns of %s, which no name matches',
    async (pattern) => {
      await client.file('source/b', 'b');
      const { code, stderr } = await client.attempt('mirror', '--exclude', pattern, source, 's/box');
      expect([code, stderr]).toEqual([0, expect.stringContaining(`--exclude \`${pattern}\` matches nothing`)]);
    },
  );
});
