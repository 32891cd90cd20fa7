import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StockProgram, stockProgram } from './stock-program.ts';

let s3cmd: StockProgram;
beforeAll(async () => {
  s3cmd = await stockProgram('/usr/bin/s3cmd', ({ s3, accessKey, secretKey }, folder) => {
    const { host } = new URL(s3);
    const lines = [
      '[default]',
      `access_key = ${accessKey}`,
      `secret_key = ${secretKey}`,
      `host_base = ${host}`,
      `host_bucket = ${host}`,
      'use_https = False',
      'multipart_chunk_size_mb = 5',
    ];
    writeFileSync(join(folder, 's3cfg'), lines.join('\n'));
    return { args: ['--config', join(folder, 's3cfg'), '--no-progress'] };
  });
});
afterAll(() => s3cmd?.stop());

describe('s3cmd', () => {
  it('puts, lists, copies, moves and gets objects', async () => {
    await s3cmd.run('mb', 's3://plain');
    const large = randomBytes(12 * 2 ** 20);
    const path = await s3cmd.file('large', large);
    await s3cmd.run('put', path, 's3://plain/folder/large');
    await s3cmd.run('put', await s3cmd.file('small', 'small'), 's3://plain/ü+ x');
    await s3cmd.run('cp', 's3://plain/folder/large', 's3://plain/copied');
    await s3cmd.run('mv', 's3://plain/copied', 's3://plain/moved');
    const listed = (await s3cmd.run('ls', '-r', 's3://plain')).trim().split('\n');
    expect(listed.map((line) => line.slice(line.indexOf('s3://')))).toEqual([
      's3://plain/folder/large',
      's3://plain/moved',
      's3://plain/ü+ x',
    ]);
    await s3cmd.run('get', 's3://plain/moved', join(s3cmd.folder, 'back'));
    expect((await readFile(join(s3cmd.folder, 'back'))).equals(large)).toBe(true);
    await s3cmd.run('modify', '--add-header=Cache-Control: no-store', 's3://plain/ü+ x');
    const head = await s3cmd.s3.send(new HeadObjectCommand({ Bucket: 'plain', Key: 'ü+ x' }));
    expect(head.CacheControl).toBe('no-store');
    expect(await s3cmd.run('info', 's3://plain/folder/large')).toMatch(/File size: 12582912/);
    await s3cmd.run('rb', '--recursive', '--force', 's3://plain');
  });

  it('keeps versions in a bucket that has them, with tags and storage class', async () => {
    const Bucket = 'versions';
    await s3cmd.run('mb', `s3://${Bucket}`);
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await s3cmd.s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    const headers = ['--add-header=x-amz-tagging:team=red', '--storage-class=REDUCED_REDUNDANCY'];
    await s3cmd.run('put', ...headers, await s3cmd.file('one', 'one'), `s3://${Bucket}/key`);
    const large = randomBytes(6 * 2 ** 20);
    await s3cmd.run('put', await s3cmd.file('large', large), `s3://${Bucket}/key`);
    await s3cmd.run('del', `s3://${Bucket}/key`);
    expect(await s3cmd.run('ls', `s3://${Bucket}`)).toBe('');
    const listed = await s3cmd.s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect(listed.Versions).toMatchObject([
      { Size: large.length, StorageClass: 'STANDARD', IsLatest: false },
      { Size: 3, StorageClass: 'REDUCED_REDUNDANCY', IsLatest: false },
    ]);
    expect(listed.DeleteMarkers).toMatchObject([{ Key: 'key', IsLatest: true }]);
    const first = { Bucket, Key: 'key', VersionId: listed.Versions?.[1]?.VersionId };
    const { TagSet } = await s3cmd.s3.send(new GetObjectTaggingCommand(first));
    expect(TagSet).toEqual([{ Key: 'team', Value: 'red' }]);
    // It removes current objects alone: the versions stay.
    expect((await s3cmd.try('rb', '--recursive', '--force', `s3://${Bucket}`)).text).toContain('BucketNotEmpty');
  });

  it('writes over locked versions, and cannot remove the bucket', async () => {
    const Bucket = 'locked';
    await s3cmd.run('mb', '--add-header=x-amz-bucket-object-lock-enabled:true', `s3://${Bucket}`);
    const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } } as const;
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
    await s3cmd.s3.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
    for (const content of ['one', 'two']) {
      await s3cmd.run('put', await s3cmd.file('content', content), `s3://${Bucket}/key`);
    }
    await s3cmd.run('del', '--recursive', '--force', `s3://${Bucket}`);
    const { Versions } = await s3cmd.s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect(Versions).toHaveLength(2);
    expect((await s3cmd.try('rb', `s3://${Bucket}`)).text).toContain('BucketNotEmpty');
  });

  it('keeps a folder in step in both directions', async () => {
    const tree = join(s3cmd.folder, 'tree');
    await mkdir(join(tree, 'x'), { recursive: true });
    for (const name of ['1', 'x/2', 'x/3']) await s3cmd.file(join('tree', name), name);
    await s3cmd.run('mb', 's3://sync');
    await s3cmd.run('sync', `${tree}/`, 's3://sync/tree/');
    await rm(join(tree, '1'));
    await s3cmd.file('tree/x/2', 'changed');
    await s3cmd.run('sync', '--delete-removed', `${tree}/`, 's3://sync/tree/');
    await mkdir(join(s3cmd.folder, 'back-tree'));
    await s3cmd.run('sync', 's3://sync/tree/', 'back-tree/');
    expect(await readdir(join(s3cmd.folder, 'back-tree'), { recursive: true })).toEqual(['x', 'x/2', 'x/3']);
    expect(await readFile(join(s3cmd.folder, 'back-tree/x/2'), 'utf8')).toBe('changed');
  });
});
