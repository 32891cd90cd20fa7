import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { startWatchedFront, type WatchedFront } from '../support/server/watched-front.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();
/** `s` goes through it, `direct` does not: two addresses of one server. */
let front: WatchedFront;
/** It ignores the conditions of deletions. */
let careless: WatchedFront;

beforeAll(async () => {
  const env = { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` };
  const server = await startServer({ env });
  await untilReady(server);
  front = await startWatchedFront(server.s3);
  const s3 = s3Client(server);
  careless = await startWatchedFront(server.s3, async (path) => {
    const [, bucket = '', key = ''] = path.split('/');
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  });
  const { accessKey, secretKey } = server;
  const stop = async (): Promise<void> => {
    await Promise.all([front.close(), careless.close()]);
    await server.stop();
  };
  await client.start(async () => ({ url: front.url, accessKey, secretKey, stop }));
  await client.attemptWith({ input: `${accessKey}\n${secretKey}\n` }, 'alias', 'set', 'direct', server.s3);
  await client.run('mb', 's/box');
}, 180_000);

afterAll(() => client.stop());

const mebibyte = 1_024 * 1_024;
const isPut = (method: string): boolean => method === 'PUT';

describe('a source that changes while it is moved', { timeout: 180_000 }, () => {
  let source: string;

  beforeEach(async () => {
    front.reset();
    source = await client.file('source', 'as it was');
  });

  it.each([
    ['appended to', async () => appendFile(source, ', and more')],
    ['rewritten with as many bytes', async () => writeFile(source, 'as it is.')],
    [
      'replaced by a rename',
      async () => {
        await writeFile(`${source}.new`, 'as it is.');
        await rename(`${source}.new`, source);
      },
    ],
  ])('is copied again when it is %s after it was read, and stays when that does not end', async (_, change) => {
    front.before(isPut, change);
    await client.run('mv', source, 's/box/moved');
    expect(await client.run('cat', 's/box/moved')).not.toBe('as it was');
    await writeFile(source, 'as it was');
    front.before(isPut, change, Infinity);
    const { code, stderr } = await client.attempt('mv', source, 's/box/moved');
    expect([code, stderr]).toEqual([1, expect.stringContaining('changed while it was copied')]);
    expect(stderr).toContain('1 source changed during the command');
    expect(await readFile(source, 'utf8')).not.toBe('as it was');
  });

  it('is copied again when it changes while it is read', async () => {
    const large = await client.file('large', randomBytes(12 * mebibyte));
    front.before(isPut, async () => writeFile(large, randomBytes(12 * mebibyte)));
    await client.run('mv', large, 's/box/large');
    await expect(stat(large)).rejects.toThrow('ENOENT');
  });

  it('is stored in one of its states, or not at all', async () => {
    const first = randomBytes(12 * mebibyte);
    const large = await client.file('mixed', first);
    let last = first;
    const rewrite = async (): Promise<void> => {
      last = randomBytes(12 * mebibyte);
      await writeFile(large, last);
    };
    front.before((method, path) => method === 'PUT' && path.includes('partNumber=2'), rewrite);
    await client.run('cp', large, 's/box/mixed');
    await client.run('cp', 's/box/mixed', client.path('mixed-back'));
    expect((await readFile(client.path('mixed-back'))).equals(last)).toBe(true);
  });

  it('is removed where it did not change', async () => {
    await client.run('mv', source, 's/box/quiet');
    await expect(stat(source)).rejects.toThrow('ENOENT');
  });

  it('stays as an object that was replaced meanwhile', async () => {
    await client.run('cp', source, 's/box/from');
    front.before(
      (method, path) => method === 'DELETE' && path.includes('/from'),
      async () => {
        const newer = await client.file('newer', 'newer');
        await client.run('cp', newer, 'direct/box/from');
      },
    );
    const { code, stderr } = await client.attempt('mv', 's/box/from', client.path('down'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('the object was replaced while it was copied')]);
    expect(await client.run('cat', 's/box/from')).toBe('newer');
    expect(await readFile(client.path('down'), 'utf8')).toBe('as it was');
  });
});

describe('two addresses of one server', { timeout: 180_000 }, () => {
  it('are one place, so that a move keeps the object', async () => {
    const source = await client.file('same', 'same');
    await client.run('cp', source, 's/box/same');
    const { code, stderr } = await client.attempt('mv', 's/box/same', 'direct/box/same');
    expect([code, stderr]).toEqual([1, expect.stringContaining('is its own target')]);
    expect(await client.run('cat', 's/box/same')).toBe('same');
  });

  it('are one place, so that a mirror into its own source is refused', async () => {
    await client.run('cp', await client.file('inside', '1'), 's/box/in/x');
    const { code, stderr } = await client.attempt('mirror', '--remove', 's/box', 'direct/box/in');
    expect([code, stderr]).toEqual([1, expect.stringContaining('within the source')]);
    expect(await client.run('cat', 's/box/in/x')).toBe('1');
  });

  it('move an object to another key', async () => {
    await client.run('cp', await client.file('other', '1'), 's/box/other');
    await client.run('mv', 's/box/other', 'direct/box/other2');
    expect(await client.keys('s/box/other')).toEqual(['other2']);
  });
});

describe('mirror', { timeout: 180_000 }, () => {
  it('replaces what changed within the second of its copy', async () => {
    const folder = client.path('build');
    await mkdir(folder);
    await writeFile(`${folder}/out`, 'first.');
    await client.run('mirror', '--overwrite', folder, 's/box/build');
    await writeFile(`${folder}/out`, 'second');
    await client.run('mirror', '--overwrite', folder, 's/box/build');
    expect(await client.run('cat', 's/box/build/out')).toBe('second');
  });

  it.each([
    ['by its bytes', 3],
    // The ETag of an object in parts tells nothing of its bytes.
    ['once more, where they cannot tell', 6 * mebibyte],
  ])('replaces a file that is hardly newer than an object of other bytes: %s', async (_, size) => {
    await client.run('mb', '--ignore-existing', 's/seven');
    const folder = client.path(`hardly-${size}`);
    await client.run('put', '--part-size', '5MiB', await client.file('replaced', '2'.repeat(size)), `s/seven/${size}`);
    await client.run('mirror', '--overwrite', 's/seven', folder);
    const dated = new Date(Date.now() + 1_000);
    await writeFile(`${folder}/${size}`, '1'.repeat(size));
    await utimes(`${folder}/${size}`, dated, dated);
    await client.run('mirror', '--overwrite', 's/seven', folder);
    expect((await readFile(`${folder}/${size}`, 'utf8')).slice(-3)).toBe('222');
  });

  it.each([
    ['of one request', 3, []],
    ['in parts', 6 * mebibyte, []],
    ['whose ETag tells nothing', 3, ['--enc-kms', 's/box/sent=some-key']],
  ])(
    'replaces an object %s that is hardly newer than its file, which changed while it was sent',
    async (_, size, more) => {
      const name = `sent/${size}${more.length}`;
      await mkdir(client.path(name), { recursive: true });
      const written = new Date(Date.now() - 1_000);
      const before = await client.file('sent-before', '1'.repeat(size));
      await client.run('put', '--part-size', '5MiB', ...more, before, `s/box/${name}/x`);
      await writeFile(client.path(`${name}/x`), '2'.repeat(size));
      await utimes(client.path(`${name}/x`), written, written);
      await client.run('mirror', '--overwrite', client.path(name), `s/box/${name}`);
      expect((await client.run('cat', `s/box/${name}/x`)).slice(-3)).toBe('222');
      expect(await client.json('mirror', '--overwrite', client.path(name), `s/box/${name}`)).toMatchObject([
        { transferred: 0 },
      ]);
    },
  );

  it.each([4, 6 * mebibyte])(
    'keeps an object of the same %d bytes that is hardly newer than its file',
    async (size) => {
      const folder = client.path(`kept-${size}`);
      await mkdir(folder);
      await writeFile(`${folder}/x`, 'k'.repeat(size));
      await client.run('put', '--part-size', '5MiB', `${folder}/x`, `s/box/kept-${size}/x`);
      const again = await client.json('mirror', '--overwrite', folder, `s/box/kept-${size}`);
      expect(again).toMatchObject([{ transferred: 0 }]);
    },
  );

  it('copies once more what credentials without GetObject cannot compare, and copies the rest', async () => {
    const Action = ['s3:ListBucket', 's3:PutObject'];
    const Statement = [{ Effect: 'Allow', Action, Resource: ['arn:aws:s3:::drop', 'arn:aws:s3:::drop/*'] }];
    const policy = await client.file('policy.json', JSON.stringify({ Version: '2012-10-17', Statement }));
    await client.run('mb', 's/drop');
    await client.attemptWith({ input: 'writer-secret\n' }, 'admin', 'user', 'add', 's', 'writer');
    await client.run('admin', 'policy', 'create', 's', 'drop', policy);
    await client.run('admin', 'policy', 'attach', 's', 'drop', '--user', 'writer');
    await client.attemptWith({ input: 'writer\nwriter-secret\n' }, 'alias', 'set', 'writer', client.server.url);
    const folder = client.path('drop');
    await mkdir(folder);
    await client.run('cp', await client.file('dropped', '1st'), 's/drop/a');
    const written = new Date(Date.now() - 1_000);
    await writeFile(`${folder}/a`, '2nd');
    await utimes(`${folder}/a`, written, written);
    await writeFile(`${folder}/b`, 'rest');
    await client.run('mirror', '--overwrite', folder, 'writer/drop');
    expect([await client.run('cat', 's/drop/a'), await client.run('cat', 's/drop/b')]).toEqual(['2nd', 'rest']);
  });

  it('reports a file that vanishes before it is compared, and copies the rest', async () => {
    const folder = client.path('vanishing');
    await mkdir(folder);
    await Promise.all(['a', 'b', 'c'].map(async (name) => writeFile(`${folder}/${name}`, name)));
    await client.run('cp', `${folder}/b`, 's/box/vanishing/b');
    // Its time tells nothing then: its bytes are compared.
    const tomorrow = new Date(Date.now() + 86_400_000);
    await utimes(`${folder}/b`, tomorrow, tomorrow);
    front.reset();
    // One worker takes the files in their order, of a folder that has been read by then.
    front.before(
      (method, path) => isPut(method) && path.includes('vanishing/a'),
      async () => rm(`${folder}/b`),
    );
    const args = ['mirror', '--overwrite', '--max-workers', '1', folder, 's/box/vanishing'];
    const { code, stderr } = await client.attempt(...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Unable to (?:compare|read) `[^`]*vanishing\/b`/u)]);
    expect(await client.keys('s/box/vanishing')).toEqual(['a', 'b', 'c']);
  });

  it('compares again with --watch what it could not compare while the server was away', async () => {
    const folder = client.path('away');
    await mkdir(folder);
    await client.run('cp', await client.file('away-before', '1st'), 's/box/away/x');
    const written = new Date(Date.now() - 1_000);
    await writeFile(`${folder}/x`, '2nd');
    await utimes(`${folder}/x`, written, written);
    front.reset();
    // As often as the client asks before it gives up.
    front.before(
      (method, path) => method === 'HEAD' && path.includes('away/x'),
      async () => Promise.reject(new Error('away')),
      12,
    );
    // Not through the front, whose failures are for the mirror.
    const copied = () => client.run('cat', 'direct/box/away/x');
    const { stderr } = await client.follow(
      ['mirror', '--watch', folder, 's/box/away'],
      [async () => expect.poll(copied, { timeout: 120_000, interval: 500 }).toBe('2nd')],
    );
    expect(stderr).toContain('everything is compared again');
  });

  it.each([4, 6 * mebibyte])('keeps a file of the same %d bytes that is hardly newer than its object', async (size) => {
    const [bucket, folder] = [`s/same-${size}`, client.path(`same-${size}`)];
    await client.run('mb', bucket);
    await client.run('put', '--part-size', '5MiB', await client.file('same', 's'.repeat(size)), `${bucket}/x`);
    await client.run('mirror', bucket, folder);
    expect(await client.json('mirror', '--overwrite', bucket, folder)).toMatchObject([{ transferred: 0 }]);
  });

  it('replaces an object whose ETag differs, although it is newer', async () => {
    await client.run('mb', 's/one', 's/two');
    await client.run('cp', await client.file('etag', '1st'), 's/one/x');
    await client.run('cp', await client.file('etag', '2nd'), 's/two/x');
    await client.run('mirror', '--overwrite', 's/one', 's/two');
    expect(await client.run('cat', 's/two/x')).toBe('1st');
  });

  it('keeps what the source got after it was listed, and what was replaced in the target', async () => {
    await client.run('mb', 's/three', 's/four');
    await client.run('cp', await client.file('extraneous', '1'), 's/four/got');
    await client.run('cp', client.path('extraneous'), 's/four/replaced');
    front.before(
      (method, path) => method === 'HEAD' && path.includes('three/got'),
      async () => void (await client.run('cp', client.path('extraneous'), 'direct/three/got')),
    );
    front.before(
      (method, path) => method === 'DELETE' && path.includes('four/replaced'),
      async () => void (await client.run('cp', await client.file('newer', 'newer'), 'direct/four/replaced')),
    );
    const { code } = await client.attempt('mirror', '--remove', '--max-delete', '9', 's/three', 's/four');
    expect([code, await client.keys('s/four')]).toEqual([1, ['got', 'replaced']]);
  });

  it('keeps what was replaced in the target at a server that ignores If-Match', async () => {
    const { accessKey, secretKey, url } = { ...client.server, url: careless.url };
    await client.attemptWith({ input: `${accessKey}\n${secretKey}\n` }, 'alias', 'set', 'careless', url);
    await client.run('mb', 's/five', 's/six');
    await client.run('cp', await client.file('before', '1'), 's/six/replaced');
    await client.run('cp', client.path('before'), 's/six/gone');
    careless.before(
      (method, path) => method === 'GET' && path.includes('prefix=replaced'),
      async () => void (await client.run('cp', await client.file('newer', 'newer'), 'direct/six/replaced')),
    );
    const { code, stderr } = await client.attempt('mirror', '--remove', '--max-delete', '9', 's/five', 'careless/six');
    expect([code, stderr]).toEqual([1, expect.stringContaining('it was replaced since it was listed')]);
    expect(await client.keys('s/six')).toEqual(['replaced']);
  });

  it('removes nothing below a folder that became a link', async () => {
    const folder = client.path('linked');
    await mkdir(`${folder}/k`, { recursive: true });
    await writeFile(`${folder}/k/f`, '1');
    await client.run('mirror', folder, 's/box/linked');
    await rename(`${folder}/k`, client.path('elsewhere'));
    await symlink(client.path('elsewhere'), `${folder}/k`);
    await client.attempt('mirror', '--remove', folder, 's/box/linked');
    expect(await client.keys('s/box/linked')).toEqual(['linked/k/f'.replace('linked/', '')]);
  });

  it('refuses a target that a link leads into the source', async () => {
    await mkdir(client.path('outer/inner'), { recursive: true });
    await symlink(client.path('outer/inner'), client.path('way-in'));
    const { code, stderr } = await client.attempt('mirror', client.path('outer'), client.path('way-in'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('within the source')]);
  });
});

describe('two sources of one name', { timeout: 180_000 }, () => {
  it.each(['mv', 'cp'])('are not %s over each other', async (command) => {
    for (const folder of ['x', 'y']) {
      await mkdir(client.path(folder), { recursive: true });
      await writeFile(client.path(`${folder}/f`), folder);
    }
    const target = `s/box/${command}-names/`;
    const args = [client.path('x/f'), client.path('y/f'), target];
    const { code, stderr } = await client.attempt(command, ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('become one name')]);
    const stored = await client.run('cat', `${target}f`);
    const left = await Promise.all(['x/f', 'y/f'].map((name) => readFile(client.path(name), 'utf8').catch(() => '')));
    expect(new Set([stored, ...left])).toEqual(new Set(command === 'mv' ? ['x', 'y', ''] : ['x', 'y']));
  });
});

describe('rm of a link to a folder', () => {
  beforeEach(async () => {
    await mkdir(client.path('behind'), { recursive: true });
    await writeFile(client.path('behind/f'), 'kept');
    await rm(client.path('link'), { force: true });
    await symlink(client.path('behind'), client.path('link'));
  });

  it.each([[[]], [['--older-than', '0s']]])('removes the link alone (%j)', async (more) => {
    await client.run('rm', '-r', '--force', ...more, client.path('link'));
    await expect(stat(client.path('link'))).rejects.toThrow('ENOENT');
    expect(await readFile(client.path('behind/f'), 'utf8')).toBe('kept');
  });

  it('is refused with a slash at its end', async () => {
    const { code, stderr } = await client.attempt('rm', '-r', '--force', `${client.path('link')}/`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is a link')]);
    expect(await readFile(client.path('behind/f'), 'utf8')).toBe('kept');
  });

  it('removes a link that leads nowhere', async () => {
    await symlink(client.path('nowhere'), client.path('dangling'));
    await client.run('rm', client.path('dangling'));
    await expect(readFile(client.path('dangling'))).rejects.toThrow('ENOENT');
  });
});
