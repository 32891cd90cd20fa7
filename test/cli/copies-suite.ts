import { randomBytes } from 'node:crypto';
import { chmod, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientDriver } from './client-driver.ts';

const polling = { timeout: 60_000, interval: 50 };

/** The commands that copy, and their flags. */
export function describeCopies(client: ClientDriver): void {
  async function tree(name: string, contents: Readonly<Record<string, string>>): Promise<string> {
    for (const [path, content] of Object.entries(contents)) await client.file(`${name}/${path}`, content);
    return client.path(name);
  }

  beforeAll(async () => {
    await client.run('mb', 's/copies');
  });

  describe('mirror', () => {
    it('copies what is missing, and replaces and removes only when it is told to', async () => {
      const source = await tree('m1', { a: '1', 'd/b': '22', 'd/c': '333' });
      expect((await client.json('mirror', source, 's/copies/m1')).length).toBe(4);
      expect(await client.keys('s/copies/m1')).toEqual(['a', 'd/b', 'd/c']);
      expect(await client.json('mirror', source, 's/copies/m1')).toMatchObject([{ total: 0, transferred: 0 }]);

      await tree('m1', { a: 'longer' });
      const rejected = await client.attempt('mirror', source, 's/copies/m1');
      expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('use --overwrite')]);
      expect(await client.run('cat', 's/copies/m1/a')).toBe('1');
      await client.run('mirror', '--overwrite', source, 's/copies/m1');
      expect(await client.run('cat', 's/copies/m1/a')).toBe('longer');

      await client.run('cp', await client.file('extra', 'x'), 's/copies/m1/d/extra');
      const shown = await client.run('mirror', '--remove', '--dry-run', source, 's/copies/m1');
      expect(shown).toContain('Would remove `s/copies/m1/d/extra`');
      expect(await client.keys('s/copies/m1')).toContain('d/extra');
      expect((await client.json('mirror', '--remove', '--summary', source, 's/copies/m1')).at(-2)).toMatchObject({
        copied: 0,
        removed: 1,
      });
      expect(await client.keys('s/copies/m1')).toEqual(['a', 'd/b', 'd/c']);
    });

    it('brings a bucket here and removes what it lacks, between servers too', async () => {
      await tree('m2', { x: '1', 'y/z': '2' });
      await client.run('mirror', client.path('m2'), 's/copies/m2');
      await client.run('mirror', 's/copies/m2', client.path('m2-down'));
      await client.file('m2-down/y/extra', '');
      await client.run('mirror', '--remove', 's/copies/m2', client.path('m2-down'));
      expect(await readdir(client.path('m2-down/y'))).toEqual(['z']);
      await client.run('mb', 's/mirrored');
      await client.run('mirror', 's/copies/m2', 's/mirrored');
      expect(await client.keys('s/mirrored')).toEqual(['x', 'y/z']);
    });

    it('notices a file that is newer and of the same size', async () => {
      const source = await tree('m3', { a: '1' });
      await client.run('mirror', source, 's/copies/m3');
      await writeFile(`${source}/a`, '2');
      await utimes(`${source}/a`, new Date(), new Date(Date.now() + 60_000));
      const warned = await client.attempt('mirror', source, 's/copies/m3');
      expect([warned.code, warned.stderr]).toEqual([0, expect.stringContaining('older than its source')]);
      await client.run('mirror', '--overwrite', source, 's/copies/m3');
      expect(await client.run('cat', 's/copies/m3/a')).toBe('2');
    });

    it('removes nothing where the source is mistyped', async () => {
      await client.file('typo/kept.txt', 'kept');
      await client.run('mb', '-p', 's/typo');
      for (const source of ['s/typo/absent', 's/typo/absent/', client.path('absent')]) {
        const { code, stderr } = await client.attempt('mirror', '--remove', source, client.path('typo'));
        expect([code, stderr]).toEqual([1, expect.stringMatching(/does not exist|Unable to read/)]);
      }
      expect(await readFile(client.path('typo/kept.txt'), 'utf8')).toBe('kept');
    });

    it('prints the whole path of a file, as a script needs it', async () => {
      const given = relative(process.cwd(), await client.file('shown.txt', 'shown'));
      await client.run('mb', '-p', 's/typo');
      expect((await client.json('cp', given, 's/typo/')).at(0)).toMatchObject({ source: client.path('shown.txt') });
    });

    it('refuses a bucket that does not exist', async () => {
      const { code, stderr } = await client.attempt('mirror', await tree('m9', { a: '1' }), 's/absent-bucket');
      expect([code, stderr]).toEqual([1, expect.stringContaining('does not exist')]);
    });

    it('leaves out what is excluded, or of another age', async () => {
      const source = await tree('m4', { 'a.tmp': '', 'd/b.tmp': '', 'd/c': '', old: '' });
      await utimes(`${source}/old`, new Date(0), new Date(0));
      await client.run('mirror', '--exclude', '*.tmp', '--newer-than', '1d', source, 's/copies/m4');
      expect(await client.keys('s/copies/m4')).toEqual(['d/c']);
      await client.run('mirror', '--exclude', '*.tmp', '--remove', await tree('m4-none', { n: '' }), 's/copies/m4');
      expect(await client.keys('s/copies/m4')).toEqual(['n']);
    });

    it('removes nothing where the source cannot be read, and says so', async () => {
      const source = await tree('m5', { a: '1', 'd/b': '2' });
      await client.run('mirror', source, 's/copies/m5');
      const bad = Buffer.concat([Buffer.from(`${source}/`), Buffer.of(0x41, 0xff)]);
      await writeFile(bad, 'x');
      await client.run('cp', `${source}/a`, 's/copies/m5/extra');
      const { code, stderr } = await client.attempt('mirror', '--remove', source, 's/copies/m5');
      expect([code, stderr]).toEqual([1, expect.stringContaining('not UTF-8')]);
      expect(await client.keys('s/copies/m5')).toEqual(['a', 'd/b', 'extra']);
      expect((await client.attempt('mirror', client.path('none'), 's/copies/m5')).code).toBe(1);
      expect((await client.attempt('mirror', 's/copies', 's/copies/m5')).stderr).toContain('within the source');
    });

    it('says what it leaves behind: earlier versions and tags', async () => {
      await client.run('mb', '--with-versioning', 's/left-behind');
      const [tagged, plain] = [await client.file('left/tagged', '1'), await client.file('left/plain', '2')];
      await client.run('cp', '--tags', 'k=v', tagged, 's/left-behind/');
      await client.run('cp', plain, 's/left-behind/');
      const { code, stderr } = await client.attempt('mirror', 's/left-behind', client.path('left-down'));
      expect(code).toBe(0);
      expect(stderr.split('\n')).toEqual([
        'coffer: <WARNING> Earlier versions in `s/left-behind` are left behind: the latest objects alone are copied.',
        'coffer: <WARNING> The tags of 1 object are left behind.',
        '',
      ]);
    });
  });

  describe('mirror --watch', () => {
    it('copies and removes what changes in a folder, until it is interrupted', async () => {
      const source = await tree('watched', { first: '1', 'd/second': '2' });
      const keys = async (): Promise<unknown[]> => client.keys('s/copies/watched');
      const removal = /"target":"s\/copies\/watched\/d\/second".*"eventType":"s3:ObjectRemoved:Delete"/;
      const { code, stdout } = await client.follow(
        ['--json', 'mirror', '--watch', source, 's/copies/watched'],
        [
          async () => expect.poll(keys, polling).toEqual(['d/second', 'first']),
          async () => {
            await tree('watched', { 'd/new/third': '3', first: 'longer' });
            await expect.poll(keys, polling).toEqual(['d/new/third', 'd/second', 'first']);
            await expect.poll(async () => client.run('cat', 's/copies/watched/first'), polling).toBe('longer');
          },
          async () => {
            await rm(`${source}/d/second`);
            await expect.poll(keys, polling).toEqual(['d/new/third', 'first']);
          },
        ],
        // The object is gone before the client has the answer and prints the line.
        (printed) => removal.test(printed),
      );
      expect(code).toBe(130);
      expect(stdout).toMatch(removal);
    });
  });

  describe('checksums', () => {
    it.each(['CRC64NVME', 'CRC32', 'CRC32C', 'SHA1', 'SHA256', 'MD5'])('%s are sent and accepted', async (name) => {
      const small = await client.file('checked-small', 'hello');
      const large = await client.file('checked-large', randomBytes(11 * 1_024 * 1_024));
      for (const source of [small, large]) {
        await client.run('cp', '--checksum', name, source, 's/copies/checked');
        await client.run('cp', 's/copies/checked', client.path('checked-back'));
        expect((await readFile(client.path('checked-back'))).equals(await readFile(source))).toBe(true);
      }
      const args = ['pipe', '--checksum', name, 's/copies/checked-pipe'];
      expect((await client.attemptWith({ input: 'from a pipe' }, ...args)).code).toBe(0);
    });

    it('of an unknown name are refused', async () => {
      const { code, stderr } = await client.attempt('cp', '--checksum', 'XXHASH', client.path('small'), 's/copies/x');
      expect([code, stderr]).toEqual([1, expect.stringContaining('Invalid --checksum')]);
    });
  });

  describe('limits', () => {
    it('of the rate leave the bytes as they are', async () => {
      const content = randomBytes(2_000_000);
      const source = await client.file('limited', content);
      await client.run('--limit-upload', '20MB', 'cp', source, 's/copies/limited');
      await client.run('--limit-download', '20MB', 'cp', 's/copies/limited', client.path('limited-back'));
      expect((await readFile(client.path('limited-back'))).equals(content)).toBe(true);
      const { code, stderr } = await client.attempt('--limit-upload', 'fast', 'ls', 's/copies');
      expect([code, stderr]).toEqual([1, expect.stringContaining('Invalid --limit-upload')]);
    });
  });

  describe('mv', () => {
    it('removes each source after its copy arrived', async () => {
      const source = await tree('mv1', { a: '1', 'd/b': '2' });
      await client.run('mv', '-r', `${source}/`, 's/copies/mv1');
      await expect(stat(source)).rejects.toThrow('ENOENT');
      await client.run('mv', '-r', 's/copies/mv1/', 's/copies/mv2/');
      expect([await client.keys('s/copies/mv1/'), await client.keys('s/copies/mv2/')]).toEqual([[], ['a', 'd/b']]);
      await client.run('mv', 's/copies/mv2/a', client.path('mv-a'));
      expect(await client.keys('s/copies/mv2/')).toEqual(['d/b']);
    });

    it('keeps a source whose copy failed, or that is its own target', async () => {
      const source = await client.file('kept', '1');
      expect((await client.attempt('mv', source, 's/no-such-bucket/kept')).code).toBe(1);
      expect((await client.attempt('mv', source, source)).stderr).toContain('is its own target');
      await client.run('cp', source, 's/copies/kept');
      expect((await client.attempt('mv', 's/copies/kept', 's/copies/')).stderr).toContain('is its own target');
      expect([await readFile(source, 'utf8'), await client.run('cat', 's/copies/kept')]).toEqual(['1', '1']);
    });
  });

  describe('the flags of a copy', () => {
    it('give it tags, attributes and a lock', async () => {
      const source = await client.file('flags', '1');
      await client.run('cp', '--tags', 'a=b c&d=e', '--attr', 'x=y', source, 's/copies/flags');
      expect(await client.json('tag', 'list', 's/copies/flags')).toMatchObject([{ tagset: { a: 'b c', d: 'e' } }]);
      await client.run('cp', '--tags', 'n=1', 's/copies/flags', 's/copies/flags2');
      expect(await client.json('tag', 'list', 's/copies/flags2')).toMatchObject([{ tagset: { n: '1' } }]);
      expect(await client.json('stat', 's/copies/flags2')).toMatchObject([{ metadata: { 'X-Amz-Meta-X': 'y' } }]);
      const locked = ['--retention-mode', 'governance', '--retention-duration', '1d', '--legal-hold', 'on'];
      await client.run('cp', ...locked, source, 's/locked/flags');
      expect(await client.json('legalhold', 'info', 's/locked/flags')).toMatchObject([{ legalhold: 'ON' }]);
    });

    it('keep mode and time of a file there and back', async () => {
      const source = await client.file('kept-mode', '1');
      await chmod(source, 0o640);
      await utimes(source, 1_000_000, 2_000_000);
      await client.run('cp', '-a', source, 's/copies/preserved');
      await client.run('cp', '-a', 's/copies/preserved', client.path('preserved'));
      const found = await stat(client.path('preserved'));
      expect([found.mode & 0o777, found.mtimeMs]).toEqual([0o640, 2_000_000_000]);
      // Some objects have tags, of which it warns.
      expect((await client.attempt('mirror', '-a', 's/copies', client.path('all'))).code).toBe(0);
      expect(await client.json('mirror', '-a', 's/copies', client.path('all'))).toMatchObject([{ transferred: 0 }]);
    });

    it('encrypt it by the place that is the longest', async () => {
      const source = await client.file('sealed', '1');
      const flags = ['--enc-s3', 's/copies/sealed', '--enc-kms', 's/copies/sealed/kms=some-key'];
      await client.run('cp', ...flags, source, 's/copies/sealed/s3');
      await client.run('cp', ...flags, 's/copies/sealed/s3', 's/copies/sealed/kms');
      expect(await client.run('stat', 's/copies/sealed/s3')).toContain('SSE-S3');
      expect(await client.run('stat', 's/copies/sealed/kms')).toMatch(/SSE-KMS.*some-key/);
      const short = ['--enc-c', 's/copies=abc'];
      expect((await client.attempt('cp', ...short, source, 's/copies/sealed/c')).stderr).toContain('32 bytes');
    });

    it('choose by age, and show what they would do', async () => {
      const source = await tree('ages', { old: '', recent: '' });
      await utimes(`${source}/old`, new Date(0), new Date(0));
      expect(await client.run('cp', '-r', '--older-than', '1d', '--dry-run', source, 's/copies/ages')).toContain(
        'Would copy',
      );
      expect(await client.keys('s/copies/ages')).toEqual([]);
      await client.run('cp', '-r', '--older-than', '1d', '--max-workers', '1', source, 's/copies/ages');
      expect(await client.keys('s/copies/ages/ages')).toEqual(['old']);
    });
  });

  describe('cp', () => {
    it('writes to standard output, where nothing else is then, and replaces no link to an open file', async () => {
      await client.run('cp', await client.file('spoken', 'the bytes'), 's/copies/spoken');
      const link = client.path('to-output');
      await symlink('/proc/self/fd/1', link);
      const { code, stdout, stderr } = await client.attempt('cp', 's/copies/spoken', link);
      expect([code, stdout.toString(), stderr]).toEqual([0, 'the bytes', '']);
      expect(await readlink(link)).toBe('/proc/self/fd/1');
    });

    it('copies a file of this machine through a temporary file, which it removes', async () => {
      const from = await client.file('here/from', 'new');
      await chmod(from, 0o444);
      const to = await client.file('there/to', 'older and longer');
      await client.run('cp', from, to);
      expect([await readFile(to, 'utf8'), await readdir(client.path('there'))]).toEqual(['new', ['to']]);
    });
  });

  describe('get, put, pipe and od', () => {
    it('bring one object there and back', async () => {
      const source = await client.file('one-object', 'content');
      await client.run('put', source, 's/copies/one');
      await client.run('get', 's/copies/one', client.path('got'));
      expect(await readFile(client.path('got'), 'utf8')).toBe('content');
      expect((await client.attempt('put', '--if-not-exists', source, 's/copies/one')).code).toBe(1);
      expect((await client.attempt('put', client.path('none'), 's/copies/one')).code).toBe(1);
      expect((await client.attempt('put', 's/copies/one', 's/copies/two')).stderr).toContain('coffer cp');
      expect((await client.attempt('get', 's/copies/none', client.path('got'))).code).toBe(1);
    });

    it('upload standard input', async () => {
      const args = ['--json', 'pipe', '--tags', 'a=b', 's/copies/piped'];
      const { code, stdout } = await client.attemptWith({ input: 'from a pipe' }, ...args);
      expect([code, JSON.parse(stdout.toString())]).toMatchObject([0, { target: 's/copies/piped', size: 11 }]);
      expect(await client.run('cat', 's/copies/piped')).toBe('from a pipe');
      expect((await client.attemptWith({ input: 'on' }, 'pipe')).stdout.toString()).toBe('on');
      expect((await client.attemptWith({ input: 'x' }, 'pipe', 's/copies')).code).toBe(1);
    });

    it('copy parts', async () => {
      const content = randomBytes(12 * 1_024 * 1_024);
      const source = await client.file('dump', content);
      expect(await client.json('od', `if=${source}`, 'of=s/copies/dump', 'size=5MiB')).toMatchObject([
        { type: 'FStoS3', parts: 3, partSize: 5 * 1_024 * 1_024, totalSize: content.length },
      ]);
      const back = client.path('dump-back');
      await client.run('od', 'if=s/copies/dump', `of=${back}`, 'size=1MiB', 'parts=2', 'skip=1');
      expect((await readFile(back)).equals(content.subarray(1_048_576, 3 * 1_048_576))).toBe(true);
      expect((await client.attempt('od', `if=${source}`, 'of=s/copies/dump', 'parts=12')).code).toBe(1);
    });
  });
}
