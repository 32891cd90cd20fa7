import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();

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

describe('a time', () => {
  it('of find may be absolute, with its zone', async () => {
    await client.run('cp', await client.file('new', 'x'), 's/box/times/new');
    expect(await client.run('find', 's/box/times/', '--newer-than', '2020-01-01T00:00:00+02:00')).toBe(
      's/box/times/new\n',
    );
    expect(await client.run('find', 's/box/times/', '--older-than', '2020-01-01T00:00:00Z')).toBe('');
  });

  it('before 1970 is kept with -a', async () => {
    const path = await client.file('ancient', 'x');
    await utimes(path, new Date(-1_500), new Date(-86_400_500));
    await client.run('cp', '-a', path, 's/box/ancient');
    await client.run('cp', '-a', 's/box/ancient', client.path('ancient-back'));
    expect((await stat(client.path('ancient-back'))).mtimeMs).toBe((await stat(path)).mtimeMs);
  });

  it('in the future copies a file once only', async () => {
    const path = await client.file('future/f', 'x');
    await utimes(path, new Date(), new Date(Date.now() + 86_400_000));
    await client.run('mirror', '--overwrite', client.path('future'), 's/box/future');
    const copies = (await client.json('mirror', '--overwrite', client.path('future'), 's/box/future')).filter(
      ({ source }) => source !== undefined,
    );
    expect(copies).toEqual([]);
    await writeFile(path, 'y');
    await utimes(path, new Date(), new Date(Date.now() + 86_400_000));
    await client.run('mirror', '--overwrite', client.path('future'), 's/box/future');
    expect(await client.run('cat', 's/box/future/f')).toBe('y');
  });
});

describe('a download', () => {
  it('keeps the mode of the file that it replaces', async () => {
    const path = await client.file('secret', 'old');
    await client.run('cp', await client.file('newer', 'new'), 's/box/secret');
    await chmod(path, 0o600);
    await client.run('cp', 's/box/secret', path);
    await client.run('cp', client.path('newer'), await client.file('other', ''));
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['new', 0o600]);
  });

  it('of mirror takes the place of an empty folder, and of no other', async () => {
    await client.run('cp', client.path('newer'), 's/box/places/d');
    await mkdir(client.path('places/d'), { recursive: true });
    await client.run('mirror', 's/box/places', client.path('places'));
    expect(await readFile(client.path('places/d'), 'utf8')).toBe('new');
    await client.file('full/d/x', '');
    const { code } = await client.attempt('mirror', 's/box/places', client.path('full'));
    expect([code, (await stat(client.path('full/d'))).isDirectory()]).toEqual([1, true]);
  });

  it('of mirror makes a file of a folder, and a folder of a file', async () => {
    await client.run('cp', client.path('newer'), 's/box/swap/d');
    await client.run('cp', client.path('newer'), 's/box/swap/e/x');
    await client.file('swap/d/x', 'old');
    await client.file('swap/e', 'old');
    await client.run('mirror', '--overwrite', '--remove', 's/box/swap', client.path('swap'));
    expect(await readFile(client.path('swap/d'), 'utf8')).toBe('new');
    expect(await readFile(client.path('swap/e/x'), 'utf8')).toBe('new');
  });
});

it('ls --rewind shows the number of each version, as with --versions', async () => {
  await client.run('mb', '--with-versioning', 's/rewound');
  for (const content of ['1', '2', '3']) await client.run('cp', await client.file('v', content), 's/rewound/v');
  await sleep(20);
  const now = new Date().toISOString();
  await client.run('rm', 's/rewound/v');
  expect((await client.json('ls', '--rewind', now, 's/rewound')).map(({ versionOrdinal }) => versionOrdinal)).toEqual([
    3,
  ]);
  expect(await client.json('ls', '--rewind', '0s', 's/rewound')).toEqual([]);
});

it('a file that looks like an incomplete download is left out with a warning', async () => {
  await client.file('mine/.f.0123456789abcdef.part.coffer', 'x');
  await client.file('mine/notes.part.coffer', 'x');
  const { stderr } = await client.attempt('cp', '-r', client.path('mine/'), 's/box/mine/');
  expect(stderr).toContain('it is an incomplete download');
  expect(await client.keys('s/box/mine/')).toEqual(['notes.part.coffer']);
});

it('a plus in tags stays a plus', async () => {
  await client.run('cp', '--tags', 'team=a+b c', client.path('newer'), 's/box/tagged');
  expect((await client.json('tag', 'list', 's/box/tagged'))[0]?.['tagset']).toEqual({ team: 'a+b c' });
});

it('a home that is no folder needs no config.json', async () => {
  const { url, accessKey, secretKey } = client.server;
  const host = url.replace('http://', `http://${accessKey}:${secretKey}@`);
  const env = { COFFER_HOST_s: host, COFFER_CONFIG_DIR: '/dev/null/.coffer' };
  const { code, stderr } = await runCoffer(['ls', 's/box/tagged'], { env });
  expect([code, stderr]).toEqual([0, '']);
});

it('a redirection names where it leads to', async () => {
  const server = createServer((_, answer) => answer.writeHead(301, { location: 'http://elsewhere.example/b' }).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, stderr } = await runCoffer(['ls', 'r/box'], {
    env: { COFFER_CONFIG_DIR: client.path('config'), COFFER_HOST_r: `http://ak1:secret-key@127.0.0.1:${port}` },
  });
  server.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining('http://elsewhere.example/b')]);
});

describe('anonymous access', () => {
  it('of prefixes below and above stays when another one is set, and is named', async () => {
    await client.run('mb', 's/web');
    await client.run('anonymous', 'set', 'download', 's/web/site/pub');
    await client.run('anonymous', 'set', 'upload', 's/web/site/in');
    const listed = async () => (await client.run('anonymous', 'list', 's/web')).trim().split('\n').toSorted();
    const both = ['web/site/in* => writeonly', 'web/site/pub* => readonly'];
    const result = await client.attempt('anonymous', 'set', 'private', 's/web/site');
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('Permissions of other prefixes stay');
    for (const named of ['`web/site/pub*` (download)', '`web/site/in*` (upload)'])
      expect(result.stderr).toContain(named);
    expect(await listed()).toEqual(both);
    expect((await client.attempt('anonymous', 'set', 'public', 's/web')).code).toBe(0);
    expect(await listed()).toEqual(['web/* => readwrite', ...both]);
    const below = await client.attempt('anonymous', 'set', 'private', 's/web/site/pub');
    expect(below.stderr).toContain('`web/*` (public)');
    expect(await listed()).toEqual(['web/* => readwrite', both[0]]);
  });
});

const mount = (...args: string[]) => promisify(execFile)('mount', args);

/** A folder with links to itself and to those above it, as the folder of a process in /proc has them. */
async function selfLinked(name: string): Promise<string> {
  const folder = client.path(name);
  await client.file(`${name}/task/1/status`, 'running');
  await symlink('.', join(folder, 'self'));
  await symlink('../..', join(folder, 'task/1/cwd'));
  await symlink(folder, join(folder, 'task/root'));
  return folder;
}

describe('a folder that contains itself', () => {
  it('by links is walked once', async () => {
    const folder = await selfLinked('linked');
    expect(String((await client.attempt('find', folder)).stdout).match(/status/g)).toHaveLength(1);
    for (const command of [['cp', '-r'], ['mirror']]) {
      const target = `s/box/${command[0]}-links/`;
      const { code } = await client.attempt(...command, `${folder}/`, target);
      expect(code).toBe(0);
      expect(await client.run('find', target)).toBe(`${target}task/1/status\n`);
    }
  });

  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

  it.skipIf(!isRoot)('by a mount is named, and walked once', async ({ skip }) => {
    const folder = client.path('mounted');
    await client.file('mounted/a/inner', '');
    await client.file('mounted/status', 'running');
    // A container may have no right to mount.
    const isMounted = await mount('--bind', folder, join(folder, 'a')).then(
      () => true,
      () => false,
    );
    if (!isMounted) skip();
    try {
      for (const command of [['find'], ['cp', '-r'], ['mirror']]) {
        const target = command[0] === 'find' ? [] : [`s/box/${command[0]}-mount/`];
        const { code, stderr, stdout } = await client.attempt(...command, `${folder}/`, ...target);
        expect(code).toBe(1);
        expect(stderr).toContain('a mount makes a loop');
        const found = target[0] === undefined ? String(stdout) : await client.run('find', target[0]);
        expect(found.match(/status/g)).toHaveLength(1);
      }
    } finally {
      await promisify(execFile)('umount', [join(folder, 'a')]);
    }
  });

  it.skipIf(process.platform !== 'linux')('such as that of a process in /proc ends', async () => {
    const { stdout } = await client.attempt('find', `/proc/${process.pid}/task/${process.pid}`, '--name', 'status');
    expect(String(stdout).trim().split('\n')).toContain(`/proc/${process.pid}/task/${process.pid}/status`);
  });
});

describe('rb of a folder', () => {
  it('removes the folder, and nothing that is no folder', async () => {
    await client.file('whole/f', 'x');
    await client.file('plain', 'x');
    await symlink('whole', client.path('linked-folder'));
    for (const name of ['plain', 'linked-folder', 'linked-folder/']) {
      const { code, stderr } = await client.attempt('rb', '--force', client.path(name));
      expect({ name, code }).toEqual({ name, code: 1 });
      expect(stderr).toContain('is no folder');
    }
    expect(await readFile(client.path('whole/f'), 'utf8')).toBe('x');
    await client.run('rb', '--force', client.path('whole'));
    await expect(stat(client.path('whole'))).rejects.toThrow('ENOENT');
  });
});
