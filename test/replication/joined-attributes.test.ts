import { describe, expect, it } from 'vitest';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';
import { put } from '../support/objects/test-layer.ts';

const key = 'key';
const hour = 3_600_000;
const may = { tags: true, retention: true, bypassGovernance: true, legalHold: true };

/** Two servers that replicate to each other, and have a version that the first one made. */
async function twoWay() {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [left, right] = [await LinkedServer.start('left', clock), await LinkedServer.start('right', clock)];
  await left.replicateTo(right);
  await right.replicateTo(left);
  const { versionId = '' } = await left.calls.layer.putObject(put(bucket, key, 'text'));
  const exchange = async () => {
    while ((await left.deliver()) + (await right.deliver()) > 0);
  };
  const cut = () => {
    left.cut.add('right');
    right.cut.add('left');
  };
  const heal = () => {
    left.cut.clear();
    right.cut.clear();
  };
  await exchange();
  clock.now += 1_000;
  return { clock, left, right, versionId, exchange, cut, heal };
}

async function shown({ calls: { layer } }: LinkedServer, versionId: string) {
  const { tags, lock, replication } = await layer.headObject(bucket, key, { versionId });
  return { tags, lock, status: replication?.status };
}

const retained = (mode: 'GOVERNANCE' | 'COMPLIANCE', until: number) => ({
  retention: { mode, until: new Date(until) },
  bypassGovernance: false,
});

describe('two servers with changes of one version on both sides', () => {
  it.each([0, 10_000])('keep a legal hold and tags that follow %i ms later', async (after) => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    cut();
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    clock.now += after;
    await right.calls.layer.putObjectTags(bucket, key, { k: 'v' });
    await exchange();
    heal();
    await exchange();
    const both = { tags: { k: 'v' }, lock: { legalHold: true } };
    expect(await shown(left, versionId)).toEqual({ ...both, status: 'COMPLETED' });
    expect(await shown(right, versionId)).toEqual({ ...both, status: 'REPLICA' });
    const removed = left.call('DELETE', `${key}?versionId=${versionId}`);
    expect(await removed).toMatchObject({ status: 403 });
  });

  it.each<Record<string, string>>([{ k: 'v' }, {}])(
    'keep the tags %j that a client set again after a change on the other side',
    async (tags) => {
      const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
      await left.calls.layer.putObjectTags(bucket, key, tags);
      await exchange();
      cut();
      clock.now += 5;
      await right.calls.layer.putObjectTags(bucket, key, { k: 'older' });
      clock.now += 5;
      await left.calls.layer.putObjectTags(bucket, key, tags);
      heal();
      await exchange();
      const expected = Object.keys(tags).length === 0 ? undefined : tags;
      expect((await shown(left, versionId)).tags).toEqual(expected);
      expect((await shown(right, versionId)).tags).toEqual(expected);
    },
  );

  it.each(['GOVERNANCE', 'COMPLIANCE'] as const)('keep %s and tags that follow later', async (mode) => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    cut();
    const until = clock.now + hour;
    await left.calls.layer.putObjectRetention(bucket, key, retained(mode, until));
    clock.now += 10_000;
    await right.calls.layer.putObjectTags(bucket, key, { k: 'v' });
    await exchange();
    heal();
    await exchange();
    const both = { tags: { k: 'v' }, lock: { retention: { mode, until: new Date(until) } } };
    expect(await shown(left, versionId)).toMatchObject(both);
    expect(await shown(right, versionId)).toMatchObject(both);
  });

  it.each([
    [3, 1],
    [1, 3],
  ])('have the longer COMPLIANCE of %i h and %i h', async (first, second) => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    cut();
    const { now } = clock;
    await left.calls.layer.putObjectRetention(bucket, key, retained('COMPLIANCE', now + first * hour));
    clock.now += 5;
    await right.calls.layer.putObjectRetention(bucket, key, retained('COMPLIANCE', now + second * hour));
    heal();
    await exchange();
    const lock = { retention: { mode: 'COMPLIANCE', until: new Date(now + 3 * hour) } };
    expect(await shown(left, versionId)).toMatchObject({ lock, status: 'COMPLETED' });
    expect(await shown(right, versionId)).toMatchObject({ lock, status: 'REPLICA' });
  });

  it('have a legal hold of one and COMPLIANCE of the other', async () => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    cut();
    const until = clock.now + hour;
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    clock.now += 5;
    await right.calls.layer.putObjectRetention(bucket, key, retained('COMPLIANCE', until));
    heal();
    await exchange();
    const lock = { legalHold: true, retention: { mode: 'COMPLIANCE', until: new Date(until) } };
    expect(await shown(left, versionId)).toMatchObject({ lock, status: 'COMPLETED' });
    expect(await shown(right, versionId)).toMatchObject({ lock, status: 'REPLICA' });
  });

  it('release a legal hold by a newer change', async () => {
    const { clock, left, right, versionId, exchange } = await twoWay();
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    await exchange();
    clock.now += 5;
    await right.calls.layer.putObjectLegalHold(bucket, key, { legalHold: false });
    await exchange();
    expect(await shown(left, versionId)).toMatchObject({ lock: { legalHold: false } });
    expect(await shown(right, versionId)).toMatchObject({ lock: { legalHold: false } });
  });

  it('keep a lock that the other one removed the version without knowing', async () => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    cut();
    await right.calls.layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + hour));
    await left.calls.layer.deleteObject(bucket, key, { versionId });
    heal();
    await exchange();
    expect(await shown(right, versionId)).toMatchObject({ lock: { retention: { mode: 'GOVERNANCE' } } });
  });

  it('remove a version on both sides whose GOVERNANCE the caller bypasses', async () => {
    const { clock, left, right, versionId, exchange } = await twoWay();
    await right.calls.layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + hour));
    await exchange();
    await left.calls.layer.deleteObject(bucket, key, { versionId, bypassGovernance: true });
    await exchange();
    await expect(shown(right, versionId)).rejects.toMatchObject({ code: 'NoSuchVersion' });
  });

  it('keep a legal hold that came after the one which was released with the version', async () => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    await exchange();
    cut();
    clock.now += 5;
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: false });
    await left.calls.layer.deleteObject(bucket, key, { versionId });
    clock.now += 5;
    await right.calls.layer.putObjectLegalHold(bucket, key, { legalHold: false });
    await right.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    clock.now += 5;
    heal();
    await exchange();
    expect(await shown(right, versionId)).toMatchObject({ lock: { legalHold: true } });
  });
});

function at(time: number) {
  return { versionId: 'null', modified: new Date(time) };
}

it('a legal hold that was set again is newer than its release, and a tag of a removed version releases none', async () => {
  const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
  await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: false });
  await exchange();
  cut();
  const { layer } = left.calls;
  clock.now += 5;
  await layer.putObjectLegalHold(bucket, key, { legalHold: true });
  clock.now += 5;
  await right.calls.layer.putObjectTags(bucket, key, { k: 'v' });
  await right.calls.layer.deleteObject(bucket, key, { versionId });
  heal();
  await exchange();
  expect(await shown(left, versionId)).toMatchObject({ lock: { legalHold: true } });
});

it('gives a null version no attributes of another body', async () => {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const server = await LinkedServer.start('left', clock);
  const { layer } = server.calls;
  const attributes = {
    bucket,
    key,
    versionId: 'null',
    headers: { metadata: {} },
    tags: { k: 'v' },
    lock: undefined,
    may,
  };
  await layer.putObject(put(bucket, key, 'text', { replica: at(clock.now) }));
  const changes = { tags: clock.now + 9 };
  for (const time of [clock.now - 5, clock.now + 5]) {
    await expect(layer.putReplicaAttributes({ ...attributes, ...at(time), changes })).rejects.toMatchObject({
      code: 'NoSuchVersion',
    });
  }
  expect((await layer.headObject(bucket, key)).tags).toBeUndefined();
});
