import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientDriver } from './client-driver.ts';

/** The commands about versions, tags, locks and anonymous access. */
export function describeVersions(client: ClientDriver): void {
  async function put(target: string, ...contents: string[]): Promise<void> {
    for (const content of contents) await client.run('cp', await client.file('content', content), target);
  }

  async function versionsOf(target: string): Promise<Record<string, unknown>[]> {
    return client.json('ls', '-r', '--versions', target);
  }

  describe('versions', () => {
    beforeAll(async () => {
      await client.run('mb', '--with-versioning', 's/versions');
    });

    it('are enabled, shown and suspended', async () => {
      await client.run('mb', 's/later');
      expect(await client.run('version', 'info', 's/later')).toBe('s/later is un-versioned\n');
      expect(await client.json('version', 'enable', 's/later', '--excluded-prefixes', 'a/,b/')).toMatchObject([
        { Op: 'enable', url: 's/later' },
      ]);
      expect(await client.json('version', 'info', 's/later')).toMatchObject([
        { Op: 'info', versioning: { status: 'Enabled', MFADelete: '', ExcludedPrefixes: ['a/', 'b/'] } },
      ]);
      await client.run('version', 'suspend', 's/later');
      expect(await client.run('version', 'info', 's/later')).toBe('s/later versioning is suspended\n');
      expect((await client.attempt('version', 'info', 's/none')).code).toBe(1);
    });

    it('are listed from the newest, with their ordinals and delete markers', async () => {
      await put('s/versions/list/a', '1', '22');
      await put('s/versions/list/b', '333');
      await client.run('rm', 's/versions/list/a');
      const listed = await versionsOf('s/versions/list/');
      expect(
        listed.map(({ key, size, versionOrdinal, isDeleteMarker }) => [key, size, versionOrdinal, isDeleteMarker]),
      ).toEqual([
        ['a', 0, 3, true],
        ['a', 2, 2, undefined],
        ['a', 1, 1, undefined],
        ['b', 3, 1, undefined],
      ]);
      expect(await client.keys('s/versions/list/')).toEqual(['b']);
      expect(await client.run('ls', '-r', '--versions', 's/versions/list/')).toMatch(/ v3 DEL a\n.* v2 PUT a\n/);
    });

    it('are read and described by their ID and by a time', async () => {
      await put('s/versions/read', 'old');
      await setTimeout(1_100);
      // A time of the clock, since a duration would depend on how long each command takes.
      const between = new Date().toISOString();
      await setTimeout(1_000);
      await put('s/versions/read', 'new');
      const [, first] = await versionsOf('s/versions/read');
      const id = String(first?.['versionId']);
      expect(await client.run('cat', '--version-id', id, 's/versions/read')).toBe('old');
      expect(await client.run('cat', '--vid', id, 's/versions/read')).toBe('old');
      expect(await client.run('cat', '--rewind', between, 's/versions/read')).toBe('old');
      expect(await client.run('head', '--rewind', between, 's/versions/read')).toBe('old');
      expect(await client.json('stat', '--version-id', id, 's/versions/read')).toMatchObject([
        { versionID: id, size: 3 },
      ]);
      expect((await client.json('stat', '--versions', 's/versions/read')).length).toBe(2);
      await client.run('cp', '--version-id', id, 's/versions/read', 's/versions/copied');
      expect(await client.run('cat', 's/versions/copied')).toBe('old');
      await client.run('cp', '--rewind', between, 's/versions/read', client.path('rewound'));
      expect((await client.attempt('cat', '--rewind', '1d', 's/versions/read')).stderr).toContain('at that time');
      expect((await client.attempt('cat', '--vid', id, '--rewind', between, 's/versions/read')).code).toBe(1);
    });

    it('are removed one by one, all, or those that are not current', async () => {
      await put('s/versions/rm/a', '1', '2', '3');
      const [, second] = await versionsOf('s/versions/rm/');
      const id = String(second?.['versionId']);
      expect(await client.json('rm', '--vid', id, 's/versions/rm/a')).toMatchObject([
        { versionID: id, deleteMarker: false },
      ]);
      expect((await versionsOf('s/versions/rm/')).length).toBe(2);
      expect((await client.json('rm', '-r', '--force', '--versions', '--dry-run', 's/versions/rm/')).length).toBe(2);
      await client.run('rm', '-r', '--force', '--versions', '--non-current', 's/versions/rm/');
      expect(await client.run('cat', 's/versions/rm/a')).toBe('3');
      expect((await versionsOf('s/versions/rm/')).length).toBe(1);
      expect((await client.attempt('rm', '--versions', 's/versions/rm/a')).stderr).toContain('needs --force');
      expect((await versionsOf('s/versions/rm/')).length).toBe(1);
      await client.run('rm', '--versions', '--force', 's/versions/rm/a');
      expect(await versionsOf('s/versions/rm/')).toEqual([]);
      expect((await client.attempt('rm', '--non-current', 's/versions/rm/')).stderr).toContain('needs --versions');
    });

    it('come back by undo', async () => {
      await put('s/versions/undo/a', '1', '2');
      await put('s/versions/undo/b', '1');
      await client.run('rm', 's/versions/undo/a');
      expect(await client.json('undo', '--dry-run', 's/versions/undo/a')).toMatchObject([{ isDeleteMarker: true }]);
      await client.run('undo', '-r', '--force', '--action', 'delete', 's/versions/undo/');
      expect(await client.keys('s/versions/undo/')).toEqual(['a', 'b']);
      await client.run('undo', 's/versions/undo/a');
      expect(await client.run('cat', 's/versions/undo/a')).toBe('1');
      expect((await client.attempt('undo', '-r', 's/versions/undo/')).stderr).toContain('--force');
      expect((await client.attempt('undo', 's/versions/undo/none')).code).toBe(1);
    });

    it('go with their bucket', async () => {
      await client.run('mb', '--with-versioning', 's/forced');
      await put('s/forced/a', '1', '2');
      await client.run('rm', 's/forced/a');
      expect((await client.attempt('rb', 's/forced')).stderr).toContain('--force');
      await client.run('rb', '--force', 's/forced');
    });
  });

  describe('tags', () => {
    it('of a bucket are set, listed and removed', async () => {
      expect((await client.attempt('tag', 'list', 's/bucket')).stderr).toContain('No tags found');
      await client.run('tag', 'set', 's/bucket', 'a=b&c=d e');
      expect(await client.json('tag', 'list', 's/bucket')).toMatchObject([{ tagset: { a: 'b', c: 'd e' } }]);
      await client.run('tag', 'remove', 's/bucket');
      expect((await client.attempt('tag', 'list', 's/bucket')).code).toBe(1);
    });

    it('of objects and versions are set, listed and removed', async () => {
      await put('s/versions/tags/a', '1', '2');
      await put('s/versions/tags/b', '1');
      const [, first] = await versionsOf('s/versions/tags/a');
      const id = String(first?.['versionId']);
      await client.run('tag', 'set', '--vid', id, 's/versions/tags/a', 'old=1');
      expect(await client.json('tag', 'list', '--versions', 's/versions/tags/a')).toMatchObject([
        { versionID: expect.not.stringContaining(id) },
        { versionID: id, tagset: { old: '1' } },
      ]);
      expect((await client.json('tag', 'set', '-r', 's/versions/tags/', 'x=y')).length).toBe(2);
      expect((await client.json('tag', 'list', '-r', 's/versions/tags/')).map(({ tagset }) => tagset)).toEqual([
        { x: 'y' },
        { x: 'y' },
      ]);
      await client.run('tag', 'remove', '-r', '--versions', 's/versions/tags/');
      expect(await client.run('tag', 'list', 's/versions/tags/b')).toContain('no tags');
    });

    it.each(['', 'a=1&a=2', '=x'])('"%s" are refused', async (tags) => {
      expect((await client.attempt('tag', 'set', 's/bucket', tags)).stderr).toContain('Invalid tags');
    });
  });

  describe('locks', () => {
    beforeAll(async () => {
      await client.run('mb', '--with-lock', 's/locked');
    });

    it('hold a version by legal hold', async () => {
      await put('s/locked/hold', '1');
      expect(await client.json('legalhold', 'info', 's/locked/hold')).toMatchObject([{ legalhold: '' }]);
      expect(await client.json('legalhold', 'set', 's/locked/hold')).toMatchObject([{ legalhold: 'ON', key: 'hold' }]);
      expect((await client.attempt('rm', '-r', '--force', '--versions', 's/locked/hold')).code).toBe(1);
      expect(await client.json('legalhold', 'clear', '-r', 's/locked/')).toMatchObject([{ legalhold: 'OFF' }]);
      await client.run('rm', '-r', '--force', '--versions', 's/locked/hold');
    });

    it('keep a version by retention, which may be bypassed', async () => {
      await put('s/locked/kept', '1');
      await client.run('retention', 'set', 'governance', '2d', 's/locked/kept');
      const [info] = await client.json('retention', 'info', 's/locked/kept');
      expect(info).toMatchObject({ mode: 'GOVERNANCE' });
      const days = (Date.parse(String(info?.['until'])) - Date.now()) / 86_400_000;
      expect(days).toBeCloseTo(2, 1);
      expect((await client.attempt('retention', 'set', 'governance', '1d', 's/locked/kept')).code).toBe(1);
      await client.run('retention', 'set', '--bypass', 'governance', '1d', 's/locked/kept');
      const rejected = await client.attempt('rm', '-r', '--force', '--versions', 's/locked/kept');
      expect([rejected.code, rejected.stdout.toString()]).toEqual([1, '']);
      await client.run('rm', '-r', '--force', '--versions', '--bypass', 's/locked/kept');
    });

    it('have a default for new objects', async () => {
      await client.run('retention', 'set', '--default', 'governance', '3d', 's/locked');
      expect(await client.json('retention', 'info', '--default', 's/locked')).toMatchObject([
        { op: 'info', enabled: 'Enabled', mode: 'GOVERNANCE', validity: '3DAYS' },
      ]);
      await put('s/locked/by-default', '1');
      expect(await client.json('retention', 'info', 's/locked/by-default')).toMatchObject([{ mode: 'GOVERNANCE' }]);
      await client.run('retention', 'clear', '--default', 's/locked');
      expect(await client.json('retention', 'info', '--default', 's/locked')).toMatchObject([
        { mode: '', validity: '0' },
      ]);
      await client.run('retention', 'clear', 's/locked/by-default');
      expect((await client.attempt('retention', 'info', '--default', 's/bucket')).code).toBe(1);
    });

    it.each([
      [['governance', '1h'], 'Invalid validity'],
      [['governance', '0d'], 'Invalid validity'],
      [['other', '1d'], 'Invalid retention mode'],
    ])('%j is refused', async (args, message) => {
      expect((await client.attempt('retention', 'set', ...args, 's/locked/x')).stderr).toContain(message);
    });
  });

  describe('anonymous access', () => {
    it.each(['download', 'upload', 'public'])('%s is given and taken', async (permission) => {
      await client.run('anonymous', 'set', permission, 's/bucket');
      expect(await client.json('anonymous', 'get', 's/bucket')).toMatchObject([{ operation: 'get', permission }]);
      await client.run('anonymous', 'set', 'private', 's/bucket');
      expect(await client.run('anonymous', 'get', 's/bucket')).toContain('is `private`');
    });

    it('of a prefix is apart from the others, and shows in links', async () => {
      await put('s/bucket/site/page', '1');
      await put('s/bucket/hidden', '1');
      await client.run('anonymous', 'set', 'download', 's/bucket/site/');
      await client.run('anonymous', 'set', 'upload', 's/bucket/inbox/');
      expect(
        (await client.json('anonymous', 'list', 's/bucket')).map(({ resource, allow }) => [resource, allow]),
      ).toEqual([
        ['bucket/site/*', 'readonly'],
        ['bucket/inbox/*', 'writeonly'],
      ]);
      const [link] = await client.json('anonymous', 'links', '-r', 's/bucket');
      const answer = await fetch(String(link?.['url']));
      expect([answer.status, await answer.text()]).toEqual([200, '1']);
      const policy = await client.run('anonymous', 'get-json', 's/bucket');
      await client.run('anonymous', 'set', 'private', 's/bucket/site/');
      await client.run('anonymous', 'set', 'private', 's/bucket/inbox/');
      expect((await fetch(String(link?.['url']))).status).toBe(403);
      await client.run('anonymous', 'set-json', await client.file('policy.json', policy), 's/bucket');
      expect((await fetch(String(link?.['url']))).status).toBe(200);
      await client.run('anonymous', 'set', 'none', 's/bucket/site/');
      await client.run('anonymous', 'set', 'none', 's/bucket/inbox/');
    });

    it('has four names', async () => {
      expect((await client.attempt('anonymous', 'set', 'all', 's/bucket')).stderr).toContain('Invalid permission');
    });
  });
}
