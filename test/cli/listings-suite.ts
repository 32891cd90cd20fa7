import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientDriver } from './client-driver.ts';

function sums(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines.map(({ prefix, size, objects }) => [prefix, size, objects]);
}

/** The commands that list, compare and share. */
export function describeListings(client: ClientDriver): void {
  describe('listings', () => {
    beforeAll(async () => {
      for (const [name, content] of [
        ['a', '1'],
        ['d/b.txt', '22'],
        ['d/e/c.log', '333'],
        ['d-x', '4444'],
      ] as const) {
        await client.file(`walk/${name}`, content);
      }
      await client.run('mb', 's/walk');
      await client.run('cp', '-r', `${client.path('walk')}/`, 's/walk');
    });

    it('add up folders, from the innermost', async () => {
      expect(sums(await client.json('du', 's/walk'))).toEqual([['walk', 10, 4]]);
      expect(sums(await client.json('du', '-d', '2', 's/walk'))).toEqual([
        ['walk/d', 5, 2],
        ['walk', 10, 4],
      ]);
      const all = [
        ['d/e', 3, 1],
        ['d', 5, 2],
        ['', 10, 4],
      ];
      const named = (base: string) => all.map(([name, ...rest]) => [name === '' ? base : `${base}/${name}`, ...rest]);
      expect(sums(await client.json('du', '-r', 's/walk'))).toEqual(named('walk'));
      expect(sums(await client.json('du', '-r', client.path('walk')))).toEqual(named(client.path('walk')));
      expect(await client.run('du', 's/walk/d')).toBe('5B\t2 objects\twalk/d\n');
    });

    it('draw a tree, of a server and of this machine', async () => {
      const drawn = '├─ a\n├─ d-x\n└─ d\n   ├─ b.txt\n   └─ e\n      └─ c.log\n';
      expect(await client.run('tree', '-f', 's/walk')).toBe(`s/walk\n${drawn}`);
      expect(await client.run('tree', '-f', client.path('walk'))).toBe(`${client.path('walk')}\n${drawn}`);
      expect(await client.run('tree', 's/walk')).toBe('s/walk\n└─ d\n   └─ e\n');
      expect(await client.run('tree', '-d', '1', 's/walk')).toBe('s/walk\n└─ d\n');
      expect((await client.json('tree', 's/walk')).map(({ key }) => key)).toEqual(['a', 'd-x', 'd/b.txt', 'd/e/c.log']);
    });

    it('find by tests, and print what is asked for', async () => {
      expect(await client.run('find', 's/walk', '--name', '*.txt')).toBe('s/walk/d/b.txt\n');
      expect(await client.run('find', client.path('walk'), '--name', '*.txt')).toBe(`${client.path('walk/d/b.txt')}\n`);
      expect(await client.run('find', 's/walk', '--larger', '2', '--print', '{base} {size}')).toBe(
        'd-x 4B\nc.log 3B\n',
      );
      expect(await client.run('find', 's/walk', '--maxdepth', '1')).toBe('s/walk/a\ns/walk/d-x\n');
      const url = (await client.run('find', 's/walk', '--name', 'a', '--print', '{url}')).trim();
      expect(await (await fetch(url)).text()).toBe('1');
      expect((await client.attempt('find', 's/none')).code).toBe(1);
      expect((await client.attempt('find', client.path('none'))).code).toBe(1);
    });

    it('find by tags and metadata', async () => {
      await client.run('tag', 'set', 's/walk/a', 'kind=first');
      await client.run('cp', '--attr', 'colour=blue', await client.file('blue', 'b'), 's/walk/blue');
      expect(await client.run('find', 's/walk', '--tags', 'kind=^f')).toBe('s/walk/a\n');
      expect(await client.run('find', 's/walk', '--metadata', 'colour=blue')).toBe('s/walk/blue\n');
      await client.run('rm', 's/walk/blue');
    });

    it('run a command for each match, and exit with 1 where one fails', async () => {
      expect(await client.run('find', 's/walk', '--name', '?', '--exec', 'echo "{base}" {}')).toBe('a s/walk/a\n');
      const { code, stderr } = await client.attempt('find', 's/walk', '--name', 'a', '--exec', 'sh -c "exit 3"');
      expect([code, stderr]).toEqual([1, expect.stringContaining('exit code 3')]);
    });

    it('differ by names and sizes', async () => {
      await client.file('other/a', 'longer');
      await client.file('other/d/b.txt', '22');
      await client.file('other/z', '');
      const differences = await client.json('diff', 's/walk', client.path('other'));
      expect(differences.map(({ diff }) => diff)).toEqual([2, 5, 5, 6]);
      const url = client.server.url;
      expect(differences.map(({ first, second }) => String(first).replace(`${url}/`, '') || second)).toEqual([
        'walk/a',
        'walk/d-x',
        'walk/d/e/c.log',
        client.path('other/z'),
      ]);
      expect(await client.run('diff', client.path('walk'), 's/walk')).toBe('');
      expect((await client.attempt('diff', client.path('none'), 's/walk')).code).toBe(1);
    });

    it('stat a bucket with its rules, and never call it private where a prefix is public', async () => {
      await client.run('mb', 's/described');
      const before = await client.json('stat', 's/described');
      expect(before).toMatchObject([
        { Policy: { type: 'none' }, location: 'us-east-1', ilm: {}, notification: { config: { QueueConfigs: null } } },
      ]);
      expect(before).toMatchObject([{ Replication: { enabled: false, config: { Rules: null, Role: '' } } }]);
      await client.run('anonymous', 'set', 'download', 's/described/site');
      await client.run('ilm', 'rule', 'add', 's/described', '--expire-days', '3');
      expect(await client.json('stat', 's/described')).toMatchObject([
        {
          Policy: { type: 'custom', policy: expect.stringContaining('described/site*') },
          ilm: { config: { Rules: [{ Expiration: { Days: 3 } }] } },
        },
      ]);
      const text = await client.run('stat', 's/described');
      expect([/Anonymous *: custom/.test(text), /ILM *: 1 rule/.test(text)]).toEqual([true, true]);
      await client.run('rb', 's/described');
    });

    it('list, stat and remove files of this machine', async () => {
      await client.file('local/x/y', '1');
      expect((await client.json('ls', client.path('local'))).map(({ key, type }) => [key, type])).toEqual([
        ['x/', 'folder'],
      ]);
      expect(await client.json('stat', client.path('local/x/y'))).toMatchObject([{ size: 1, type: 'file' }]);
      expect((await client.attempt('rm', client.path('local'))).code).toBe(1);
      await client.run('rm', '-r', '--force', client.path('local'));
      expect((await client.attempt('ls', client.path('local'))).code).toBe(1);
    });
  });

  describe('links', () => {
    it('to download work without keys, and are remembered', async () => {
      const [shared] = await client.json('share', 'download', '--expire', '1h', 's/walk/d/b.txt');
      expect(shared).toMatchObject({ url: `${client.server.url}/walk/d/b.txt`, timeLeft: 3_600e9 });
      expect(await (await fetch(String(shared?.['share']))).text()).toBe('22');
      expect((await client.json('share', 'download', '-r', 's/walk')).length).toBe(4);
      expect((await client.json('share', 'list', 'download')).length).toBe(5);
      expect(await readFile(client.path('config/share/downloads.json'), 'utf8')).toContain('"version":"1"');
    });

    it.each([
      [['download', '--expire', '169h', 's/walk/a'], 'from 1s to 168h'],
      [['download', 's/walk/none'], 'does not exist'],
      [['list', 'other'], 'download or upload'],
    ])('%j is refused', async (args, message) => {
      const { code, stderr } = await client.attempt('share', ...args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    });

    it('to upload are a command with a signed form', async () => {
      const [one] = await client.json('share', 'upload', '-T', 'image/png', 's/walk/up.png');
      expect(one).toMatchObject({
        contentType: 'image/png',
        share: expect.stringMatching(/^curl .*-F policy=.*-F 'file=@<FILE>'$/),
      });
      const [several] = await client.json('share', 'upload', '-r', 's/walk/up/');
      expect(several?.['share']).toContain("-F 'key=up/<NAME>'");
      expect((await client.json('share', 'list', 'upload')).length).toBe(2);
    });
  });
}
