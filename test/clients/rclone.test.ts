import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectLockConfigurationCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tool } from '../support/process/run-command.ts';
import { type StockProgram, stockProgram } from './stock-program.ts';

let rclone: StockProgram;

beforeAll(async () => {
  rclone = await stockProgram(tool('bin/rclone', 'rclone'), ({ s3, accessKey, secretKey }) => ({
    env: {
      RCLONE_CONFIG_C_TYPE: 's3',
      RCLONE_CONFIG_C_PROVIDER: 'Other',
      RCLONE_CONFIG_C_ENDPOINT: s3,
      RCLONE_CONFIG_C_ACCESS_KEY_ID: accessKey,
      RCLONE_CONFIG_C_SECRET_ACCESS_KEY: secretKey,
      RCLONE_CONFIG_C_CHUNK_SIZE: '5Mi',
      RCLONE_CONFIG_C_UPLOAD_CUTOFF: '5Mi',
      RCLONE_RETRIES: '1',
      RCLONE_LOW_LEVEL_RETRIES: '1',
    },
  }));
});
afterAll(() => rclone?.stop());

const lines = (text: string) => text.trim().split('\n').toSorted();

describe('rclone', () => {
  it('syncs a folder, checks it, and syncs it back', async () => {
    const tree = join(rclone.folder, 'tree');
    await mkdir(join(tree, 'x'), { recursive: true });
    for (const name of ['1', 'x/2', 'x/ü +3']) await rclone.file(join('tree', name), name);
    await rclone.file('tree/large', randomBytes(12 * 2 ** 20));
    await rclone.run('mkdir', 'c:sync');
    await rclone.run('sync', tree, 'c:sync/tree');
    await rclone.run('check', '--download', tree, 'c:sync/tree');
    await rm(join(tree, '1'));
    await rclone.run('sync', tree, 'c:sync/tree');
    await rclone.run('sync', 'c:sync/tree', join(rclone.folder, 'back'));
    expect(lines((await readdir(join(rclone.folder, 'back'), { recursive: true })).join('\n'))).toEqual(
      lines(['large', 'x', 'x/2', 'x/ü +3'].join('\n')),
    );
    await rclone.run('moveto', 'c:sync/tree/x/2', 'c:sync/tree/moved');
    expect(await rclone.run('cat', 'c:sync/tree/moved')).toBe('x/2');
    await rclone.run('purge', 'c:sync');
    expect(await rclone.run('lsd', 'c:')).not.toContain('sync');
  });

  it('enables versions, lists, reads and restores them, and cleans up the hidden ones', async () => {
    await rclone.run('mkdir', 'c:versions');
    expect(await rclone.run('backend', 'versioning', 'c:versions', 'Enabled')).toContain('Enabled');
    const large = randomBytes(12 * 2 ** 20);
    for (const content of ['one', large, 'three']) {
      await rclone.run('copyto', await rclone.file('content', content), 'c:versions/folder/key');
    }
    const old = lines(await rclone.run('lsf', '-R', '--files-only', '--s3-versions', 'c:versions'));
    expect(old).toHaveLength(3);
    expect(old[0]).toBe('folder/key');
    await rclone.run('deletefile', 'c:versions/folder/key');
    expect(await rclone.run('lsf', '-R', '--files-only', 'c:versions')).toBe('');
    const hidden = lines(await rclone.run('lsf', '-R', '--files-only', '--s3-versions', 'c:versions'));
    const contents: string[] = [];
    for (const name of hidden) {
      const back = join(rclone.folder, 'back-version');
      await rclone.run('--s3-versions', 'copyto', `c:versions/${name}`, back);
      const bytes = await readFile(back);
      contents.push(bytes.equals(large) ? 'large' : String(bytes));
    }
    expect(contents.toSorted()).toEqual(['large', 'one', 'three']);
    await rclone.run('backend', 'cleanup-hidden', 'c:versions');
    expect(await rclone.run('lsf', '-R', '--s3-versions', '--s3-version-deleted', 'c:versions')).not.toContain('key');
    await rclone.run('backend', 'versioning', 'c:versions', 'Suspended');
    await rclone.run('rmdir', 'c:versions');
  });

  it('shows the bucket as it was', async () => {
    await rclone.run('mkdir', 'c:then');
    await rclone.run('backend', 'versioning', 'c:then', 'Enabled');
    await rclone.run('copyto', await rclone.file('content', 'before'), 'c:then/key');
    const [{ ModTime } = { ModTime: '' }] = JSON.parse(
      await rclone.run('lsjson', '--use-server-modtime', 'c:then'),
    ) as { ModTime: string }[];
    const at = new Date(Date.parse(ModTime) + 1).toISOString();
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
    await rclone.run('copyto', await rclone.file('content', 'after!'), 'c:then/key');
    expect(await rclone.run('cat', 'c:then/key')).toBe('after!');
    expect(await rclone.run('--s3-version-at', at, 'cat', 'c:then/key')).toBe('before');
  });

  it('sets tags, metadata and a storage class, and copies on the server', async () => {
    await rclone.run('mkdir', 'c:metadata');
    const content = await rclone.file('content', 'x');
    const set = ['--metadata-set', 'cache-control=no-store', '--metadata-set', 'team=red'];
    await rclone.run('copyto', '-M', ...set, '--header-upload', 'x-amz-tagging: a=b', content, 'c:metadata/key');
    await rclone.run('copyto', '-M', '--server-side-across-configs', 'c:metadata/key', 'c:metadata/copied');
    const info = JSON.parse(await rclone.run('lsjson', '-M', '--stat', 'c:metadata/copied')) as { Metadata: unknown };
    expect(info.Metadata).toMatchObject({ 'cache-control': 'no-store', team: 'red' });
    const rejected = await rclone.try('--s3-storage-class', 'GLACIER', 'copyto', content, 'c:metadata/other');
    expect(rejected.text).toContain('InvalidStorageClass');
  });

  it('writes into a bucket with object lock, and cannot purge it', async () => {
    const Bucket = 'locked';
    await rclone.s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } } as const;
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
    await rclone.s3.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
    for (const content of ['one', randomBytes(6 * 2 ** 20), 'three']) {
      await rclone.run('copyto', await rclone.file('content', content), 'c:locked/key');
    }
    await rclone.run('delete', 'c:locked');
    expect((await rclone.try('backend', 'cleanup-hidden', 'c:locked')).text).toContain('AccessDenied');
    expect(lines(await rclone.run('lsf', '--s3-versions', 'c:locked'))).toHaveLength(3);
    expect((await rclone.try('purge', 'c:locked')).code).not.toBe(0);
  });
});
