import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { ClientDriver } from '../cli/client-driver.ts';
import { startMinio } from '../support/server/start-minio.ts';

const client = new ClientDriver();

beforeAll(async () => client.start(() => startMinio()), 120_000);

afterAll(async () => client.stop());

describe('an archive on a MinIO', { timeout: 180_000 }, () => {
  it('is listed, read and copied from with --zip', async () => {
    const archive = new ZipFile();
    archive.addBuffer(Buffer.from('hello\nworld\n'), 'dir/hello.txt');
    archive.addBuffer(Buffer.from('x'), 'x');
    archive.end();
    await writeFile(client.path('a.zip'), await buffer(archive.outputStream));
    await client.run('mb', 's/archives');
    await client.run('cp', client.path('a.zip'), 's/archives/a.zip');
    expect((await client.json('ls', '-r', '--zip', 's/archives/a.zip')).map(({ key }) => key)).toEqual([
      'dir/hello.txt',
      'x',
    ]);
    expect(await client.run('cat', '--zip', 's/archives/a.zip/dir/hello.txt')).toBe('hello\nworld\n');
    expect(await client.run('head', '--zip', '-n', '1', 's/archives/a.zip/dir/hello.txt')).toBe('hello\n');
    await client.run('cp', '--zip', 's/archives/a.zip/dir/hello.txt', 's/archives/copied');
    expect(await client.run('cat', 's/archives/copied')).toBe('hello\nworld\n');
    await client.run('cp', '-r', '--zip', 's/archives/a.zip/', `${client.path('unpacked')}/`);
    expect(await readFile(join(client.path('unpacked'), 'dir/hello.txt'), 'utf8')).toBe('hello\nworld\n');
    expect((await client.attempt('ls', '--zip', client.path())).stderr).toContain('--zip is for servers');
  });
});
