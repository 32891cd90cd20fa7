import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();
let here: string;
let s3: S3Client;

beforeAll(async () => {
  await client.start(async () => {
    const server = await startServer();
    await untilReady(server);
    s3 = s3Client(server);
    return {
      url: server.s3,
      accessKey: server.accessKey,
      secretKey: server.secretKey,
      stop: async () => void (await server.stop()),
    };
  });
  await client.run('mb', 's/from', 's/into');
}, 180_000);

afterAll(async () => {
  s3.destroy();
  await client.stop();
});

beforeEach(async () => {
  here = client.path('here');
  await rm(here, { recursive: true, force: true });
  for (const bucket of ['from', 'into']) await client.run('rm', '-r', '--force', `s/${bucket}/`);
});

/** Stores an object under a key that ends with a slash, which no command of the client makes of a file. */
async function put(bucket: string, key: string, body = ''): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: Buffer.from(body) }));
}

describe('mirror between buckets', () => {
  it('copies keys that end with a slash, with their bodies, and a second time nothing', async () => {
    for (const [key, body] of [
      ['photos/', ''],
      ['data/', 'body'],
      ['a//', 'b'],
      ['f', 'f'],
      ['..//', 'x'],
    ] as const)
      await put('from', key, body);
    await client.run('mirror', 's/from', 's/into');
    expect(await client.keys('s/into')).toEqual(['..//', 'a//', 'data/', 'f', 'photos/']);
    expect(await client.run('cat', 's/into/data/')).toBe('body');
    expect(await client.run('diff', 's/from', 's/into')).toBe('');
    const again = (await client.json('mirror', '--overwrite', 's/from', 's/into')).filter(({ source }) => source);
    expect(again).toEqual([]);
  });

  it('removes them with --remove', async () => {
    await put('from', 'f', 'f');
    for (const [key, body] of [
      ['f', 'f'],
      ['photos/', ''],
      ['data/', 'body'],
    ] as const)
      await put('into', key, body);
    await client.run('mirror', '--remove', '--overwrite', 's/from', 's/into');
    expect(await client.keys('s/into')).toEqual(['f']);
  });

  it('copies the object that shows the folder itself to another folder, and leaves out an empty one of a bucket', async () => {
    await put('from', 'dir/');
    await put('from', 'dir/f', 'f');
    await client.run('mirror', 's/from/dir', 's/into/other');
    expect(await client.keys('s/into')).toEqual(['other/', 'other/f']);
    await client.run('mirror', 's/from/dir', 's/into');
    expect(await client.keys('s/into')).toEqual(['f', 'other/', 'other/f']);
  });

  it('names an object with a body that has no name in the target', async () => {
    await put('from', 'dir/', 'body');
    for (const command of [['mirror'], ['cp', '-r']]) {
      const { code, stderr } = await client.attempt(...command, 's/from/dir/', 's/into');
      expect([code, stderr]).toEqual([1, expect.stringContaining('Unable to copy `s/from/dir/`')]);
    }
  });

  it('honours --exclude for them', async () => {
    for (const key of ['photos/', 'other/']) await put('from', key);
    await client.run('mirror', '--exclude', 'photos/*', 's/from', 's/into');
    expect(await client.keys('s/into')).toEqual(['other/']);
  });
});

describe('mirror to a folder', () => {
  it('makes an empty folder once', async () => {
    await put('from', 'photos/');
    await put('from', 'f', 'f');
    await client.run('mirror', 's/from', here);
    expect((await readdir(here)).toSorted()).toEqual(['f', 'photos']);
    const again = (await client.json('mirror', '--overwrite', 's/from', here)).filter(({ source }) => source);
    expect(again).toEqual([]);
    expect(await client.run('diff', 's/from', here)).toBe('');
    expect(await client.run('diff', here, 's/from')).toBe('');
  });

  it.each([['mirror'], ['cp', '-r'], ['mv', '-r'], ['mirror', '--dry-run']])(
    '%s %s names what has a body and no place in a folder, and copies the others',
    async (...command) => {
      await put('from', 'data/', 'body');
      await put('from', 'f', 'f');
      const { code, stderr } = await client.attempt(...command, 's/from/', here);
      expect([code, stderr]).toEqual([1, expect.stringContaining('`coffer cat s/from/data/`')]);
      if (!command.includes('--dry-run'))
        expect([await readFile(`${here}/f`, 'utf8'), await readdir(here)]).toEqual(['f', ['f']]);
      expect(await client.run('cat', 's/from/data/')).toBe('body');
    },
  );

  it('puts a folder in the place of a file that is removed', async () => {
    await client.file('here/photos', 'old');
    await put('from', 'photos/');
    await put('from', 'f', 'f');
    await client.run('mirror', '--remove', 's/from', here);
    expect((await stat(`${here}/photos`)).isDirectory()).toBe(true);
  });
});

describe('mirror of a folder', () => {
  it('keeps with --remove what shows a folder of the source, and removes the others', async () => {
    await client.file('here/f', 'f');
    await mkdir(`${here}/photos`);
    for (const [key, body] of [
      ['photos/', ''],
      ['gone/', ''],
      ['f/', ''],
      ['photos/x/', 'body'],
    ] as const)
      await put('into', key, body);
    await client.run('mirror', '--remove', here, 's/into');
    expect(await client.keys('s/into')).toEqual(['f', 'photos/']);
  });

  it('does not take the object that shows the target for one of the target', async () => {
    await mkdir(here);
    await put('into', 'dir/');
    await client.run('mirror', '--remove', here, 's/into/dir/');
    expect(await client.keys('s/into')).toEqual(['dir/']);
  });
});
