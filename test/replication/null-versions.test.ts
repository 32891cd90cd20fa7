import { describe, expect, it } from 'vitest';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';

/** Two servers, of which the first replicates to the second once `link` is called: a bucket with rules has no new null versions. */
async function servers() {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock, false), await LinkedServer.start('two', clock, false)];
  const resync = async () => {
    await one.resync(two, clock);
    while ((await one.deliver()) > 0);
  };
  const state = async () => {
    const { versions } = await one.calls.layer.listObjectVersions({ ...asked });
    const record = versions.find(({ versionId }) => versionId === 'null');
    if (record?.deleteMarker === true) return undefined;
    const { replication } = await one.calls.layer.headObject(bucket, key, { versionId: 'null' });
    return [replication?.status, ...Object.values(replication?.targets ?? {}).map(({ refused }) => refused)];
  };
  return { clock, one, two, resync, state };
}

const asked = { bucket, prefix: '', delimiter: '', keyMarker: '', versionIdMarker: undefined, limit: 100 };

/** Writes the null version, or a null delete marker. */
async function asNull({ calls: { layer } }: LinkedServer, text: string | undefined): Promise<void> {
  await layer.putBucketVersioning(bucket, { status: 'Suspended' });
  if (text === undefined) await layer.deleteObject(bucket, key);
  else await layer.putObject(put(bucket, key, text));
  await layer.putBucketVersioning(bucket, { status: 'Enabled' });
}

/** The null version of a server: its text, `marker`, or undefined where there is none. */
async function nullOf({ calls }: LinkedServer): Promise<string | undefined> {
  const { status, body } = await calls.call('GET', `/${bucket}/${key}?versionId=null`);
  return status === 200 ? body : status === 405 ? 'marker' : undefined;
}

const refused = ['FAILED', expect.stringContaining('another null version') as string];

describe('a resync', () => {
  it.each([
    ['own', 'older'],
    ['own', 'newer'],
    ['marker', 'older'],
    ['marker', 'newer'],
  ])('keeps the null version of the clients of the target: %s, %s', async (what, age) => {
    const { clock, one, two, resync, state } = await servers();
    const own = what === 'marker' ? undefined : what;
    if (age === 'older') await asNull(two, own);
    clock.now += 5_000;
    await asNull(one, 'source');
    clock.now += 5_000;
    if (age === 'newer') await asNull(two, own);
    await one.replicateTo(two);
    await resync();
    expect(await nullOf(two)).toBe(what);
    expect(await state()).toEqual(refused);
    expect(await one.queued(two)).toEqual([]);
  });

  it('keeps it where the source has a null delete marker', async () => {
    const { clock, one, two, resync } = await servers();
    await asNull(two, 'own');
    clock.now += 5_000;
    await asNull(one, undefined);
    await one.replicateTo(two);
    await resync();
    expect(await nullOf(two)).toBe('own');
    expect(await one.queued(two)).toEqual([]);
  });

  it.each(['noncurrent', 'current'])('leaves it to the target, whatever the source saw, where it is %s', async (at) => {
    const { clock, one, two, resync, state } = await servers();
    await asNull(one, 'source');
    await one.replicateTo(two);
    let looks = 0;
    // The clients of the target write while the source asks.
    two.intercept = ({ method }) => {
      if (method !== 'HEAD') return undefined;
      looks += 1;
      return { status: 404, headers: { 'x-minio-error-code': 'NoSuchKey', 'x-amz-request-id': 'R' }, text: '' };
    };
    clock.now -= 5_000;
    await asNull(two, 'own');
    clock.now += 9_000;
    if (at === 'noncurrent') await two.calls.layer.putObject(put(bucket, key, 'newest'));
    await resync();
    expect(looks).toBeGreaterThan(0);
    expect(await nullOf(two)).toBe('own');
    expect(await state()).toEqual(refused);
  });

  it.each(['text', 'marker'])('replaces what it has sent itself: %s', async (before) => {
    const { clock, one, two, resync, state } = await servers();
    await asNull(one, before === 'marker' ? undefined : before);
    await one.replicateTo(two);
    await resync();
    expect(await nullOf(two)).toBe(before);
    const rules = (await one.calls.layer.getBucketReplication(bucket))?.rules ?? [];
    await one.setRules([]);
    clock.now += 5_000;
    await asNull(one, 'newer');
    await one.setRules(rules);
    await resync();
    expect(await nullOf(two)).toBe('newer');
    expect(await state()).toEqual(['COMPLETED', undefined]);
  });
});

describe('a tag of a null version', () => {
  it('does not replace the null version of the target', async () => {
    const { clock, one, two, state } = await servers();
    await asNull(two, 'own');
    clock.now += 5_000;
    await asNull(one, 'source');
    await one.replicateTo(two);
    await one.calls.layer.putObjectTags(bucket, key, { k: 'v' }, 'null');
    await one.deliver();
    expect(await nullOf(two)).toBe('own');
    expect(await state()).toEqual(refused);
  });

  it('is not COMPLETED where the target has another one with the same content', async () => {
    const { clock, one, two, state } = await servers();
    await asNull(one, 'same');
    clock.now += 5_000;
    await asNull(two, 'same');
    await one.replicateTo(two);
    await one.calls.layer.putObjectTags(bucket, key, { k: 'v' }, 'null');
    await one.deliver();
    expect((await two.calls.layer.getObjectTags(bucket, key, 'null')).tags).toEqual({});
    expect(await state()).toEqual(refused);
  });
});

describe('a change of a null version', () => {
  it('waits where the target has no time for a moment', async () => {
    const { one, two, resync, state } = await servers();
    await asNull(one, 'source');
    await one.replicateTo(two);
    await resync();
    await one.calls.layer.putObjectTags(bucket, key, { k: 'v' }, 'null');
    two.intercept = ({ method }) =>
      method === 'HEAD'
        ? { status: 503, headers: { 'x-minio-error-code': 'SlowDown', 'x-amz-request-id': 'R' }, text: '' }
        : undefined;
    await one.deliver();
    two.intercept = undefined;
    expect(await one.queued(two)).toHaveLength(1);
    await one.deliver();
    expect((await two.calls.layer.getObjectTags(bucket, key, 'null')).tags).toEqual({ k: 'v' });
    expect(await state()).toEqual(['COMPLETED', undefined]);
  });

  it('does not wait, nor its removal, where the target has another null version and the hold of the own one ended', async () => {
    const { clock, one, two } = await servers();
    await asNull(two, 'own');
    clock.now += 5_000;
    await asNull(one, 'source');
    for (const { calls } of [one, two]) await calls.layer.putObjectLockConfiguration(bucket, {});
    await one.replicateTo(two);
    for (const legalHold of [true, false]) {
      clock.now += 10;
      await one.calls.layer.putObjectLegalHold(bucket, key, { versionId: 'null', legalHold });
    }
    await one.calls.layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await one.deliver()) > 0);
    expect(await one.queued(two)).toEqual([]);
    expect(await nullOf(two)).toBe('own');
  });
});

describe('the removal of a null version', () => {
  it('is not sent to a target that would remove the one of its own clients', async () => {
    const { clock, one, two } = await servers();
    await asNull(two, 'own');
    clock.now += 5_000;
    await asNull(one, 'source');
    await one.replicateTo(two);
    await one.calls.layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await one.deliver()) > 0);
    expect(two.received.filter((line) => line.startsWith('DELETE'))).toEqual([]);
    expect(await nullOf(two)).toBe('own');
    expect(await one.queued(two)).toEqual([]);
  });

  it('removes a delete marker of which a MinIO says in its own header that it is a replica', async () => {
    const { one, two, resync } = await servers();
    await asNull(one, undefined);
    await one.replicateTo(two);
    await resync();
    expect(await nullOf(two)).toBe('marker');
    two.intercept = ({ method }) => {
      const headers = { 'x-amz-request-id': 'R', 'x-minio-replication-deletemarker-status': 'REPLICA' };
      return method === 'HEAD' ? { status: 405, headers, text: '' } : undefined;
    };
    await one.calls.layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await one.deliver()) > 0);
    expect(await nullOf(two)).toBeUndefined();
  });

  it('leaves an older replica, which may have come from another server', async () => {
    const { clock, one, two, resync } = await servers();
    await asNull(one, 'sent');
    await one.replicateTo(two);
    await resync();
    const rules = (await one.calls.layer.getBucketReplication(bucket))?.rules ?? [];
    await one.setRules([]);
    clock.now += 5_000;
    await asNull(one, 'not sent');
    await one.setRules(rules);
    await one.calls.layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await one.deliver()) > 0);
    expect(await nullOf(two)).toBe('sent');
  });

  it('removes a replica where a MinIO says the time of the removal', async () => {
    const { clock, one, two, resync } = await servers();
    await asNull(one, 'source');
    await one.replicateTo(two);
    await resync();
    const headers = {
      'x-minio-source-replication-request': 'true',
      'x-amz-replication-status': 'REPLICA',
      'x-minio-source-mtime': new Date(clock.now + 60_000).toISOString(),
    };
    expect(await two.call('DELETE', `${key}?versionId=null`, headers)).toMatchObject({ status: 204 });
    expect(await nullOf(two)).toBeUndefined();
  });

  it('leaves the null version of the clients of the target', async () => {
    const { clock, one, two } = await servers();
    await asNull(two, 'own');
    clock.now += 5_000;
    await asNull(one, 'source');
    await one.replicateTo(two);
    await one.calls.layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await one.deliver()) > 0);
    expect(await nullOf(two)).toBe('own');
    expect(await one.queued(two)).toEqual([]);
  });

  it('removes what was sent', async () => {
    const { one, two, resync } = await servers();
    await asNull(one, 'source');
    await one.replicateTo(two);
    await resync();
    await one.calls.layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await one.deliver()) > 0);
    expect(await nullOf(two)).toBeUndefined();
  });
});
