import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer, type CofferResult } from '../support/server/run-coffer.ts';
import { ClientDriver, type ServerUnderTest } from './client-driver.ts';
import { describeCopies } from './copies-suite.ts';
import { describeListings } from './listings-suite.ts';
import { describeVersions } from './versions-suite.ts';

/** What our client must do against any server that speaks S3 as MinIO does. */
export function describeClient(name: string, start: () => Promise<ServerUnderTest>): void {
  let server: ServerUnderTest;
  let folder: string;
  const client = new ClientDriver();
  const attempt = async (...args: string[]): Promise<CofferResult> => client.attempt(...args);
  const coffer = async (...args: string[]): Promise<string> => client.run(...args);
  const json = async (...args: string[]): Promise<Record<string, unknown>[]> => client.json(...args);
  const keys = async (target: string): Promise<unknown[]> => client.keys(target);
  const file = async (path: string, content: string | Buffer): Promise<string> => client.file(path, content);

  describe(`the client against ${name}`, () => {
    beforeAll(async () => {
      await client.start(start);
      ({ server } = client);
      folder = client.path();
      await coffer('mb', 's/bucket');
    });

    afterAll(async () => client.stop());

    it('keeps no alias whose secret key is wrong', async () => {
      const { code, stderr } = await attempt('alias', 'set', 'wrong', server.url, server.accessKey, 'not-the-secret');
      expect([code, stderr]).toEqual([1, expect.stringMatching(/not saved.*signature/is)]);
      expect(await coffer('alias', 'list')).not.toContain('wrong');
    });

    it('keeps no alias whose access key is unknown', async () => {
      const { code, stderr } = await attempt('alias', 'set', 'wrong', server.url, 'nobody', 'not-the-secret');
      expect([code, stderr]).toEqual([1, expect.stringContaining('not saved')]);
    });

    it('makes, lists and removes a bucket', async () => {
      expect(await coffer('mb', 's/second')).toBe('Bucket created successfully `s/second`.\n');
      expect((await json('ls', 's')).map(({ key }) => key)).toEqual(expect.arrayContaining(['bucket/', 'second/']));
      expect(await coffer('rb', 's/second')).toBe('Removed `s/second` successfully.\n');
      expect((await json('ls', 's')).map(({ key }) => key)).not.toContain('second/');
    });

    it('says that a bucket is there already', async () => {
      const { code, stdout } = await attempt('--json', 'mb', 's/bucket');
      expect(code).toBe(1);
      expect(JSON.parse(stdout.toString())).toMatchObject({
        status: 'error',
        error: { type: 'fatal', cause: { error: { Code: 'BucketAlreadyOwnedByYou' } } },
      });
      await coffer('mb', '--ignore-existing', 's/bucket');
    });

    it.each([0, 1, 1_000, 1_048_577])('brings a file of %i bytes there and back', async (size) => {
      const content = randomBytes(size);
      const source = await file(`size-${size}`, content);
      await coffer('cp', source, `s/bucket/sizes/${size}`);
      await coffer('cp', `s/bucket/sizes/${size}`, join(folder, 'back', String(size)));
      expect((await readFile(join(folder, 'back', String(size)))).equals(content)).toBe(true);
      expect((await attempt('cat', `s/bucket/sizes/${size}`)).stdout.equals(content)).toBe(true);
    });

    it('uploads a large file in parts, or by one request where asked', async () => {
      const content = randomBytes(11 * 1_024 * 1_024);
      const source = await file('large', content);
      await coffer('cp', source, 's/bucket/parts');
      await coffer('cp', '--disable-multipart', source, 's/bucket/single');
      const [parts, single] = [...(await json('stat', 's/bucket/parts')), ...(await json('stat', 's/bucket/single'))];
      expect([parts?.['etag'], single?.['etag']]).toEqual([
        expect.stringMatching(/^[0-9a-f]{32}-3$/),
        expect.stringMatching(/^[0-9a-f]{32}$/),
      ]);
      for (const key of ['parts', 'single']) {
        await coffer('cp', `s/bucket/${key}`, join(folder, key));
        expect((await readFile(join(folder, key))).equals(content)).toBe(true);
      }
      await coffer('rm', 's/bucket/parts', 's/bucket/single');
    });

    it.each([0, 5, 11 * 1024 * 1024])('copies %i bytes out of a pipe', async (size) => {
      const pipe = join(folder, `pipe-${size}`);
      const content = randomBytes(size);
      execFileSync('mkfifo', [pipe]);
      const written = writeFile(pipe, content);
      const [copied] = await json('cp', pipe, 's/bucket/piped');
      await written;
      expect(copied).toMatchObject({ size, totalSize: size });
      expect((await coffer('stat', '--json', 's/bucket/piped')).includes(`"size":${size}`)).toBe(true);
      await coffer('cp', 's/bucket/piped', join(folder, 'unpiped'));
      expect((await readFile(join(folder, 'unpiped'))).equals(content)).toBe(true);
    });

    it('copies its standard input', async () => {
      const args = ['--config-dir', join(folder, 'config'), 'cp', '/dev/stdin', 's/bucket/input'];
      expect((await runCoffer(args, { input: 'from a pipe' })).code).toBe(0);
      expect(await coffer('cat', 's/bucket/input')).toBe('from a pipe');
    });

    it('reports each name in a folder that it cannot copy, and copies the others', async () => {
      const tree = join(folder, 'odd');
      await file('odd/good', 'good');
      await file('odd/sub/good', 'good');
      await writeFile(Buffer.concat([Buffer.from(`${tree}/bad-`), Buffer.of(0xff)]), 'x');
      execFileSync('mkfifo', [join(tree, 'pipe')]);
      await symlink('nowhere', join(tree, 'dangling'));
      // Too long a path to be opened, which no right of root's changes.
      execFileSync('sh', [
        '-c',
        'cd "$0" && for i in $(seq 18); do mkdir "$1"; cd -P "./$1"; done',
        tree,
        'd'.repeat(240),
      ]);
      const { code, stderr } = await attempt('cp', '-r', `${tree}/`, 's/bucket/odd');
      execFileSync('rm', ['-rf', tree]);
      expect(await keys('s/bucket/odd')).toEqual(['good', 'sub/good']);
      expect(stderr).toMatch(/bad-.*not UTF-8.*ff/);
      expect(stderr).toMatch(/pipe.*no regular file/);
      expect(stderr).toMatch(/dangling.*ENOENT|dangling.*no such file/i);
      expect(stderr).toMatch(/ENAMETOOLONG|name (is )?too long/i);
      expect(code).toBe(1);
    });

    it('does not count the bytes of a copy that was refused as transferred', async () => {
      const source = await file('counted', 'x'.repeat(1000));
      const { code, stdout } = await attempt('cp', source, 's/no-such-bucket/counted');
      expect([code, stdout.toString()]).toEqual([1, expect.stringContaining('Transferred: 0B')]);
    });

    it('copies a folder under its name, and with a slash its contents', async () => {
      await file('tree/a.txt', 'a');
      await file('tree/sub/ü +&%.txt', 'b');
      await symlink(join(folder, 'tree'), join(folder, 'tree', 'loop'));
      const { code, stderr } = await attempt('cp', '-r', join(folder, 'tree'), 's/bucket/whole');
      expect([code, stderr]).toEqual([0, expect.stringContaining('loop` is left out: links to folders')]);
      await rm(join(folder, 'tree', 'loop'));
      await coffer('cp', '-r', `${join(folder, 'tree')}/`, 's/bucket/contents');
      expect(await keys('s/bucket/whole')).toEqual(['tree/a.txt', 'tree/sub/ü +&%.txt']);
      expect(await keys('s/bucket/contents')).toEqual(['a.txt', 'sub/ü +&%.txt']);

      await coffer('cp', '-r', 's/bucket/whole/tree', join(folder, 'down'));
      await coffer('cp', '-r', 's/bucket/whole/tree/', join(folder, 'down-contents'));
      expect(await readFile(join(folder, 'down/tree/sub/ü +&%.txt'), 'utf8')).toBe('b');
      expect(await readdir(join(folder, 'down-contents'))).toEqual(['a.txt', 'sub']);
    });

    it('copies on the server, and between servers with type and metadata', async () => {
      const source = await file('page.html', '<p>');
      await coffer('cp', '--attr', 'Cache-Control=no-cache;colour=blue', source, 's/bucket/page.html');
      await coffer('cp', 's/bucket/page.html', 's/bucket/copies/');
      await attempt('alias', 'set', 'again', server.url, server.accessKey, server.secretKey);
      await coffer('cp', 's/bucket/page.html', 'again/bucket/copies/streamed');
      for (const key of ['page.html', 'streamed']) {
        expect(await json('stat', `s/bucket/copies/${key}`)).toMatchObject([
          {
            size: 3,
            metadata: { 'Content-Type': 'text/html', 'Cache-Control': 'no-cache', 'X-Amz-Meta-Colour': 'blue' },
          },
        ]);
      }
    });

    it('copies nothing out of a target folder', async () => {
      // MinIO takes no such key; ours does, since keys are no paths.
      const source = await file('evil', 'x');
      if ((await attempt('cp', source, 's/bucket/out/../../../escaped')).code !== 0) return;
      const { code, stderr } = await attempt('cp', '-r', 's/bucket/out/', join(folder, 'kept/inside'));
      expect([code, stderr]).toEqual([1, expect.stringContaining('cannot become a path')]);
      await expect(stat(join(folder, 'escaped'))).rejects.toThrow('ENOENT');
      await coffer('rm', '-r', '--force', 's/bucket/out/');
    });

    it('goes on after a source that fails, and exits with 1', async () => {
      const good = await file('good', 'g');
      const { code, stdout, stderr } = await attempt('cp', join(folder, 'absent'), good, 's/bucket/some/');
      expect([code, stderr]).toEqual([1, expect.stringContaining('absent')]);
      expect(stdout.toString()).toContain('-> `s/bucket/some/good`');
    });

    it('lists by folder, recursively and with a summary', async () => {
      await file('list/a', '1');
      await file('list/b/c', '22');
      await coffer('cp', '-r', `${join(folder, 'list')}/`, 's/bucket/list');
      expect((await json('ls', 's/bucket/list')).map(({ key, type }) => [key, type])).toEqual([
        ['a', 'file'],
        ['b/', 'folder'],
      ]);
      expect((await json('ls', '-r', '--summarize', 's/bucket/list')).at(-1)).toMatchObject({
        totalObjects: 2,
        totalSize: 3,
      });
      expect(await coffer('ls', 's/bucket/list')).toMatch(
        /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [^\]]+\] {6}1B STANDARD a\n/,
      );
    });

    it('lists every bucket of an alias recursively', async () => {
      await coffer('mb', 's/of-many');
      await coffer('cp', await file('one', '1'), 's/of-many/deep/one');
      expect(await keys('s')).toContain('of-many/deep/one');
    });

    it('pages through more objects than one answer holds, and removes them all', async () => {
      const names = Array.from({ length: 1_005 }, (_, index) => `many/${String(index).padStart(4, '0')}`);
      for (const name of names) await file(name, '');
      await coffer('cp', '-r', `${join(folder, 'many')}/`, 's/bucket/many');
      expect(await keys('s/bucket/many')).toEqual(names.map((name) => name.slice('many/'.length)));
      expect((await json('rm', '-r', '--force', 's/bucket/many')).length).toBe(1_005);
      expect(await keys('s/bucket/many')).toEqual([]);
    }, 180_000);

    it('removes a folder without what only begins the same', async () => {
      const source = await file('one', '1');
      for (const key of ['logs/a', 'logs/b/c', 'logs-of-others']) await coffer('cp', source, `s/bucket/rm/${key}`);
      await coffer('rm', '-r', '--force', 's/bucket/rm/logs');
      expect(await keys('s/bucket/rm/')).toEqual(['logs-of-others']);
    });

    it('takes the beginning of names where no folder or object has just this name, and says so', async () => {
      const source = await file('one', '1');
      for (const key of ['2025-01.log', '2025-02/a', '2026-01.log'])
        await coffer('cp', source, `s/bucket/begin/${key}`);
      const { stderr } = await attempt('rm', '-r', '--force', 's/bucket/begin/2025-');
      expect(stderr).toContain('`s/bucket/begin/2025-` is no object or folder: it means all keys that begin with it');
      expect(await keys('s/bucket/begin/')).toEqual(['2026-01.log']);
      expect((await attempt('rm', 's/bucket/begin')).stderr).toContain('is a folder: it needs --recursive and --force');
    });

    it('removes recursively only by force, and says when an object is not there', async () => {
      expect((await attempt('rm', '-r', 's/bucket')).stderr).toContain('needs --force');
      const { code, stderr } = await attempt('rm', 's/bucket/absent');
      expect([code, stderr]).toEqual([1, expect.stringContaining('`s/bucket/absent` does not exist')]);
      const forced = await attempt('rm', '--force', 's/bucket/absent');
      expect([forced.code, forced.stdout.toString()]).toEqual([1, '']);
    });

    it('keeps a bucket that is not empty, but by force', async () => {
      await coffer('mb', 's/full');
      await coffer('cp', await file('one', '1'), 's/full/a/b');
      expect((await attempt('rb', 's/full')).stderr).toContain('is not empty');
      await coffer('rb', '--force', 's/full');
    });

    it('says what is missing: object, bucket, folder', async () => {
      expect((await attempt('stat', 's/bucket/absent')).stderr).toContain('`s/bucket/absent` does not exist');
      expect((await attempt('cat', 's/bucket/absent')).code).toBe(1);
      expect((await attempt('ls', 's/no-such-bucket')).stderr).toMatch(/bucket does not exist/i);
      await coffer('cp', await file('one', '1'), 's/bucket/folder/one');
      expect((await attempt('cp', 's/bucket/folder', join(folder, 'x'))).stderr).toContain('use --recursive');
    });

    it('leaves nothing of a download that fails', async () => {
      await coffer('cp', await file('one', '1'), 's/bucket/one');
      await mkdir(join(folder, 'taken/one'), { recursive: true });
      // The name is taken by a folder, which shows only when the file gets its name.
      const { code } = await attempt('cp', 's/bucket/one', `${join(folder, 'taken')}/`);
      expect(code).toBe(1);
      expect(await readdir(join(folder, 'taken'))).toEqual(['one']);
    });

    it('sets, shows and clears the default encryption', async () => {
      expect((await client.attempt('encrypt', 'info', 's/bucket')).stderr).toContain('Auto encryption is not enabled');
      await coffer('encrypt', 'set', 'SSE-KMS', 'some-key', 's/bucket');
      expect(await json('encrypt', 'info', 's/bucket')).toMatchObject([
        { op: 'info', encryption: { algorithm: 'aws:kms', keyId: 'some-key' } },
      ]);
      await coffer('encrypt', 'set', 'sse-s3', 's/bucket');
      expect(await coffer('stat', 's/bucket')).toContain('Encryption: SSE-S3');
      await coffer('encrypt', 'clear', 's/bucket');
      expect((await client.attempt('encrypt', 'info', 's/bucket')).stderr).toContain('Auto encryption is not enabled');
    });

    it('shows the state of the server', async () => {
      expect(await coffer('admin', 'info', 's')).toMatch(/^● {2}.+\n {3}Uptime: .+\n {3}Version: .+/);
      expect(await coffer('ready', 's')).toBe('The cluster is ready\n');
      const ready = {
        alias: 's',
        error: null,
        healthy: true,
        maintenanceMode: false,
        writeQuorum: 1,
        healingDrives: 0,
      };
      expect(await json('ready', 's')).toMatchObject([ready]);
      expect(await json('ready', '--cluster-read', 's')).toMatchObject([{ ...ready, writeQuorum: 0 }]);
      for (const flags of [['-c', '1'], ['--exit'], ['--exit', '--distributed']]) {
        expect(await json('ping', ...flags, 's')).toMatchObject([{ counter: 1, servers: [{ 'error-count': 0 }] }]);
      }
    });

    describeVersions(client);
    describeListings(client);
    describeCopies(client);
  });
}
