import { describe, expect, it } from 'vitest';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';

async function servers(...names: readonly string[]) {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const started: LinkedServer[] = [];
  for (const name of names) started.push(await LinkedServer.start(name, clock));
  const exchange = async () => {
    for (;;) {
      let delivered = 0;
      for (const server of started) delivered += await server.deliver();
      if (delivered === 0) return;
      clock.now += 1;
    }
  };
  const [one, two, three] = started;
  if (one === undefined) throw new Error('no server');
  return { clock, one, two: two ?? one, three: three ?? one, exchange };
}

async function text({ calls }: LinkedServer, versionId?: string): Promise<string | undefined> {
  const { status, body } = await calls.call(
    'GET',
    `/${bucket}/${key}${versionId === undefined ? '' : `?versionId=${versionId}`}`,
  );
  return status === 200 ? body : undefined;
}

async function status({ calls: { layer } }: LinkedServer, versionId?: string): Promise<string | undefined> {
  return (await layer.headObject(bucket, key, { versionId })).replication?.status;
}

async function listed(server: LinkedServer) {
  const asked = { bucket, prefix: '', delimiter: '', keyMarker: '', versionIdMarker: undefined, limit: 100 };
  const { versions } = await server.calls.layer.listObjectVersions(asked);
  return versions.map((one) => [one.key, one.versionId, one.deleteMarker, one.modified]);
}

describe('a version from before the rule', () => {
  it.each(['tag', 'legal hold', 'retention'] as const)('is sent whole with its %s', async (what) => {
    const { clock, one, two, exchange } = await servers('one', 'two');
    const { layer } = one.calls;
    await layer.putObject(put(bucket, key, 'text'));
    await one.replicateTo(two);
    clock.now += 5;
    if (what === 'tag') await layer.putObjectTags(bucket, key, { k: 'v' });
    if (what === 'legal hold') await layer.putObjectLegalHold(bucket, key, { legalHold: true });
    const retention = { mode: 'GOVERNANCE', until: new Date(clock.now + 1e6) } as const;
    if (what === 'retention') await layer.putObjectRetention(bucket, key, { retention, bypassGovernance: false });
    await exchange();
    expect(await text(two)).toBe('text');
    expect(await status(one)).toBe('COMPLETED');
  });

  it('says nothing where no rule sends its change', async () => {
    const { one, two, exchange } = await servers('one', 'two');
    await one.calls.layer.putObject(put(bucket, key, 'text'));
    await one.replicateTo(two, { filter: { prefix: 'other/' } });
    await one.calls.layer.putObjectTags(bucket, key, { k: 'v' });
    await exchange();
    expect(await status(one)).toBeUndefined();
  });

  it('is sent when a rule with a tag begins to match it, and stays there when it no more does', async () => {
    const { one, two, exchange } = await servers('one', 'two');
    await one.replicateTo(two, { filter: { tags: { k: 'v' } }, deleteMarkers: false });
    await one.calls.layer.putObject(put(bucket, key, 'text'));
    await exchange();
    expect(await text(two)).toBeUndefined();
    await one.calls.layer.putObjectTags(bucket, key, { k: 'v' });
    await exchange();
    expect(await text(two)).toBe('text');
    await one.calls.layer.putObjectTags(bucket, key, {});
    await exchange();
    expect(await text(two)).toBe('text');
  });

  it('takes its removal along where the rule no more matches its tags', async () => {
    const { one, two, exchange } = await servers('one', 'two');
    await one.replicateTo(two, { filter: { tags: { k: 'v' } }, deleteMarkers: false });
    const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text', { tags: { k: 'v' } }));
    await exchange();
    await one.calls.layer.putObjectTags(bucket, key, {});
    await exchange();
    expect(await text(two)).toBe('text');
    await one.calls.layer.deleteObject(bucket, key, { versionId });
    await exchange();
    expect(await text(two)).toBeUndefined();
  });

  it('keeps what the rule that decides keeps, whatever a rule says whose tags never matched', async () => {
    const { one, two, exchange } = await servers('one', 'two');
    await one.replicateTo(two);
    const [rule] = (await one.calls.layer.getBucketReplication(bucket))?.rules ?? [];
    if (rule === undefined) throw new Error('no rule');
    await one.setRules([
      { ...rule, id: 'archive', priority: 1, deletes: false },
      { ...rule, id: 'temporary', priority: 2, filter: { tags: { temp: 'yes' } }, deleteMarkers: false },
    ]);
    const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text'));
    await exchange();
    await one.calls.layer.deleteObject(bucket, key, { versionId });
    expect(await one.queued(two)).toEqual([]);
    expect(await text(two, versionId)).toBe('text');
  });

  it('as a replica keeps its copy at a target whose rule never matched it', async () => {
    const { one, two, three, exchange } = await servers('one', 'two', 'three');
    await two.replicateTo(one);
    await two.replicateTo(three);
    await one.replicateTo(three, { filter: { tags: { k: 'v' } }, deleteMarkers: false });
    const { versionId = '' } = await two.calls.layer.putObject(put(bucket, key, 'text'));
    await exchange();
    await one.calls.layer.deleteObject(bucket, key, { versionId });
    expect(await one.queued(three)).toEqual([]);
    expect(await text(three, versionId)).toBe('text');
  });

  it('that no target got has no removal to send', async () => {
    const { one, two } = await servers('one', 'two');
    await one.replicateTo(two, { filter: { tags: { k: 'v' } }, deleteMarkers: false });
    const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text'));
    await one.calls.layer.deleteObject(bucket, key, { versionId });
    expect(await one.queued(two)).toEqual([]);
  });

  it('is sent to a second target that comes later', async () => {
    const { one, two, three, exchange } = await servers('one', 'two', 'three');
    await one.replicateTo(two);
    await one.calls.layer.putObject(put(bucket, key, 'text'));
    await exchange();
    await one.replicateTo(three);
    await one.calls.layer.putObjectTags(bucket, key, { k: 'v' });
    await exchange();
    expect(await text(three)).toBe('text');
    expect(await status(one)).toBe('COMPLETED');
  });
});

it('does not bring back what the target has removed, and says so', async () => {
  const { one, two, exchange } = await servers('one', 'two');
  await one.replicateTo(two);
  const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text'));
  await exchange();
  await two.calls.layer.deleteObject(bucket, key, { versionId });
  await one.calls.layer.putObjectTags(bucket, key, { k: 'v' });
  await exchange();
  expect(await text(two)).toBeUndefined();
  expect((await one.calls.layer.headObject(bucket, key)).replication).toMatchObject({
    status: 'FAILED',
    targets: {
      [Object.keys((await one.calls.layer.headObject(bucket, key)).replication?.targets ?? {})[0] ?? '']: {
        has: 'removed',
      },
    },
  });
});

describe('a resync', () => {
  it('sends what the clients of a lost side had written there', async () => {
    const { clock, one, two, exchange } = await servers('one', 'two');
    await one.replicateTo(two);
    await two.replicateTo(one);
    const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text'));
    await exchange();
    await one.calls.layer.deleteObject(bucket, key, { versionId, replica: { marker: undefined } });
    expect(await text(one)).toBeUndefined();
    await two.resync(one, clock);
    await exchange();
    expect(await text(one, versionId)).toBe('text');
    expect(await status(two)).toBe('REPLICA');
  });

  it('sends no body that the target has', async () => {
    const { clock, one, two, exchange } = await servers('one', 'two');
    await one.replicateTo(two);
    await one.calls.layer.putObject(put(bucket, key, 'text'));
    await exchange();
    two.received.length = 0;
    await one.resync(two, clock);
    await exchange();
    expect(two.received.map((line) => line.split(' ')[0])).toEqual(['HEAD', 'PUT']);
    expect(await status(one)).toBe('COMPLETED');
  });

  it('sends null versions and null delete markers', async () => {
    const { clock, one, two, exchange } = await servers('one', 'two');
    const { layer } = one.calls;
    await layer.deleteBucket(bucket);
    await layer.createBucket(bucket, { location: '' });
    await layer.putObject(put(bucket, 'null-object', 'text'));
    await layer.putBucketVersioning(bucket, { status: 'Enabled' });
    await layer.putObject(put(bucket, key, 'text'));
    await layer.putBucketVersioning(bucket, { status: 'Suspended' });
    clock.now += 5;
    await layer.deleteObject(bucket, key);
    await layer.putBucketVersioning(bucket, { status: 'Enabled' });
    await one.replicateTo(two);
    await one.resync(two, clock);
    await exchange();
    expect(await listed(two)).toEqual(await listed(one));
    expect(await listed(one)).toHaveLength(3);
    expect(await text(two)).toBeUndefined();
  });

  it('goes on with the next version of a key where the target refuses one', async () => {
    const { clock, one, two, exchange } = await servers('one', 'two');
    const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'first'));
    clock.now += 5;
    await one.calls.layer.putObject(put(bucket, key, 'second'));
    await one.replicateTo(two);
    two.intercept = ({ method, query }) =>
      method === 'PUT' && query?.['versionId']?.replaceAll('-', '') === versionId
        ? {
            status: 400,
            headers: { 'x-amz-request-id': 'R' },
            text: '<Error><Code>InvalidRequest</Code><Message>no</Message></Error>',
          }
        : undefined;
    await one.resync(two, clock);
    await exchange();
    expect(await text(two)).toBe('second');
    expect(await one.queued(two)).toEqual([]);
    const { replication } = await one.calls.layer.headObject(bucket, key, { versionId });
    expect(replication?.status).toBe('FAILED');
    expect(Object.values(replication?.targets ?? {})).toEqual([
      { refused: expect.stringContaining('InvalidRequest') as string },
    ]);
  });
});
