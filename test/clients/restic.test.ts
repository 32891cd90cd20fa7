import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, ListObjectVersionsCommand, PutObjectLockConfigurationCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StockProgram, stockProgram } from './stock-program.ts';

const Bucket = 'backup';
let restic: StockProgram;

beforeAll(async () => {
  restic = await stockProgram('/usr/bin/restic', ({ s3, accessKey, secretKey }, folder) => ({
    env: {
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
      RESTIC_PASSWORD: 'password',
      RESTIC_REPOSITORY: `s3:${s3}/${Bucket}`,
      RESTIC_CACHE_DIR: join(folder, 'cache'),
    },
  }));
  // As a backup against ransomware is made: whatever restic removes, the versions stay.
  await restic.s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } } as const;
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
  await restic.s3.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
});
afterAll(() => restic?.stop());

describe('restic in a bucket with object lock', () => {
  it('backs up, checks, forgets, prunes and restores', { timeout: 360_000 }, async () => {
    await mkdir(join(restic.folder, 'source'));
    const first = randomBytes(20 * 2 ** 20);
    const source = await restic.file('source/large', first);
    for (let at = 0; at < 30; at += 1) await restic.file(`source/${at}`, `${at}`);
    await restic.run('init');
    await restic.run('backup', 'source');
    const second = randomBytes(10 * 2 ** 20);
    await restic.file('source/large', second);
    await restic.run('backup', 'source');
    await restic.run('check', '--read-data');
    const before = await stored();
    await restic.run('forget', '--keep-last', '1', '--prune');
    await restic.run('check', '--read-data');
    await restic.run('restore', 'latest', '--target', 'restored');
    expect((await readFile(join(restic.folder, 'restored', 'source', 'large'))).equals(second)).toBe(true);
    expect(await readFile(source)).toHaveLength(second.length);
    // Pruning adds delete markers, and removes no version.
    const after = await stored();
    expect([...before].filter((version) => !after.has(version))).toEqual([]);
    expect(after.size).toBeGreaterThan(before.size);
  });
});

async function stored(): Promise<Set<string>> {
  const { Versions } = await restic.s3.send(new ListObjectVersionsCommand({ Bucket }));
  return new Set(Versions?.map(({ Key, VersionId }) => `${Key} ${VersionId}`));
}
