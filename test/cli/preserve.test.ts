import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();
let second: RunningServer;

beforeAll(async () => {
  const [first, other] = await Promise.all([startServer(), startServer()]);
  second = other;
  await Promise.all([untilReady(first), untilReady(second)]);
  await client.start(async () => {
    const { s3: url, accessKey, secretKey } = first;
    return { url, accessKey, secretKey, stop: async () => void (await first.stop()) };
  });
  const { s3, accessKey, secretKey } = second;
  await client.attemptWith({ input: `${accessKey}\n${secretKey}\n` }, 'alias', 'set', 't', s3);
  await client.run('mb', '--with-lock', 's/records');
  await client.run('retention', 'set', '--default', 'governance', '30d', 's/records');
  await client.run('anonymous', 'set', 'download', 's/records');
  const lock = ['--retention-mode', 'governance', '--retention-duration', '60d', '--legal-hold', 'on'];
  const small = await client.file('small', 'small');
  const large = await client.file('large', Buffer.alloc(6 * 1_024 * 1_024, 1));
  await client.run('cp', '--tags', 'team=red&what=a b', ...lock, small, 's/records/');
  await client.run('cp', '--tags', 'team=blue', ...lock, large, 's/records/');
}, 360_000);

afterAll(async () => {
  await client.stop();
  await second.stop();
});

const tagsOf = async (target: string) => (await client.json('tag', 'list', target)).at(0)?.['tagset'];
const headersOf = async (target: string) => (await client.json('stat', target)).at(0)?.['metadata'];
const locked = {
  'X-Amz-Object-Lock-Mode': 'GOVERNANCE',
  'X-Amz-Object-Lock-Legal-Hold': 'ON',
};

describe('--preserve between two servers', { timeout: 360_000 }, () => {
  it('gives new buckets of a mirror the object lock and the policy, and objects their tags and locks', async () => {
    const { code, stderr } = await client.attempt('mirror', '-a', 's', 't');
    expect(code, stderr).toBe(0);
    expect(stderr).not.toMatch(/tags|locks/);
    expect(await tagsOf('t/records/small')).toEqual({ team: 'red', what: 'a b' });
    expect(await tagsOf('t/records/large')).toEqual({ team: 'blue' });
    for (const name of ['small', 'large']) {
      const { 'X-Amz-Object-Lock-Retain-Until-Date': until } = Object(await headersOf(`s/records/${name}`));
      expect(await headersOf(`t/records/${name}`)).toMatchObject({
        ...locked,
        'X-Amz-Object-Lock-Retain-Until-Date': until,
      });
    }
    expect(await client.run('retention', 'info', '--default', 't/records')).toContain('GOVERNANCE');
    expect(await client.run('anonymous', 'get', 't/records')).toContain('download');
  });

  it('keeps tags and locks of a copy', async () => {
    await client.run('mb', '--with-lock', 't/copies');
    await client.run('cp', '-a', 's/records/small', 't/copies/');
    expect(await tagsOf('t/copies/small')).toEqual({ team: 'red', what: 'a b' });
    expect(await headersOf('t/copies/small')).toMatchObject(locked);
  });

  it('is named where locks are left behind without it: tags are not', async () => {
    await client.run('mb', 't/plain');
    const { code, stderr } = await client.attempt('cp', 's/records/small', 't/plain/');
    expect([code, stderr]).toEqual([
      0,
      'coffer: <WARNING> The locks of 1 object are left behind: --preserve keeps them.\n',
    ]);
    expect(await tagsOf('t/plain/small')).toEqual({ team: 'red', what: 'a b' });
  });

  it('refuses to leave a lock behind silently where the target cannot have it', async () => {
    const { code, stderr } = await client.attempt('cp', '-a', 's/records/small', 't/plain/again');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/object ?lock/i)]);
  });
});

describe('a copy within one server', { timeout: 360_000 }, () => {
  const leftBehind = 'coffer: <WARNING> The locks of 1 object are left behind: --preserve keeps them.\n';

  beforeAll(async () => {
    await client.run('mb', '--with-lock', 's/archive');
    await client.run('mb', 's/open');
    await client.run('cp', await client.file('unlocked', 'unlocked'), 's/archive/');
  });

  it('has the tags, and not the lock, which the command says', async () => {
    const { code, stderr } = await client.attempt('cp', 's/records/small', 's/open/');
    expect([code, stderr]).toEqual([0, leftBehind]);
    expect(await tagsOf('s/open/small')).toEqual({ team: 'red', what: 'a b' });
    expect(await headersOf('s/open/small')).not.toHaveProperty('X-Amz-Object-Lock-Mode');
  });

  it('has no lock by a mirror either, and always by a move', async () => {
    const mirrored = await client.attempt('mirror', '--exclude', 'large', 's/records', 's/archive');
    // The bucket has versions, of which a mirror copies the latest alone.
    expect([mirrored.code, mirrored.stderr]).toEqual([0, expect.stringContaining(leftBehind)]);
    const moved = await client.attempt('mv', 's/archive/unlocked', 's/open/moved');
    expect([moved.code, moved.stderr]).toEqual([0, '']);
    await client.run('cp', '-a', 's/records/small', 's/archive/to-move');
    await client.run('mv', 's/archive/to-move', 's/records/moved');
    expect(await headersOf('s/records/moved')).toMatchObject(locked);
  });

  it('has the lock with --preserve, or the one that the flags give', async () => {
    const kept = await client.attempt('cp', '-a', 's/records/small', 's/archive/kept');
    expect([kept.code, kept.stderr]).toEqual([0, '']);
    expect(await headersOf('s/archive/kept')).toMatchObject(locked);
    const given = await client.attempt('cp', '--legal-hold', 'on', 's/records/small', 's/archive/given');
    expect([given.code, given.stderr]).toEqual([0, '']);
  });
});
