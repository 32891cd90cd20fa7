import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ReplicationOutcome } from '../../server/objects/contract/object-layer.ts';
import { encodeObject, type ObjectRecord, storedObject } from '../../server/objects/records/object-record.ts';
import { recordKeys } from '../../server/objects/records/record-format.ts';
import type { TargetAnswer } from '../../server/replication/target-client.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';

async function servers(...names: readonly string[]) {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const started: LinkedServer[] = [];
  for (const name of names) started.push(await LinkedServer.start(name, clock));
  const [one, two, three] = started;
  if (one === undefined || two === undefined) throw new Error('no server');
  return { clock, one, two, three: three ?? two };
}

const refusal: TargetAnswer = {
  status: 403,
  headers: { server: 'Coffer', 'x-amz-request-id': 'R' },
  text: '<Error><Code>AccessDenied</Code><Message>no</Message></Error>',
};

async function stored({ calls: { records } }: LinkedServer): Promise<ObjectRecord> {
  const found = storedObject(await records.get(recordKeys.object(bucket, key)), bucket, key);
  if (found === undefined) throw new Error('no object');
  return found.record;
}

/** Stores the record as a server of the release before has written it. */
async function asOlder(server: LinkedServer): Promise<void> {
  const { changes: _changes, replication, ...rest } = await stored(server);
  if (replication === undefined) throw new Error('no state');
  const { targets: _targets, ...state } = replication;
  const value = encodeObject({ ...rest, replication: state });
  await commitOnce(server.calls.records, { put: [{ key: recordKeys.object(bucket, key), value }] }, randomBytes);
}

const state = async ({ calls: { layer } }: LinkedServer) => (await layer.headObject(bucket, key)).replication;

/** Removes the version for good, as a lifecycle rule does. */
async function expire(server: LinkedServer): Promise<boolean> {
  const { versionId = 'null' } = await stored(server);
  return server.calls.layer.expireObject(bucket, key, { versionId, isDue: () => true });
}

it('lets a version expire that the target has, and whose resync it refused', async () => {
  const { clock, one, two } = await servers('one', 'two');
  await one.replicateTo(two);
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  await one.deliver();
  two.intercept = () => refusal;
  await one.resync(two, clock);
  await one.deliver();
  expect(await state(one)).toMatchObject({ status: 'FAILED' });
  expect((await state(one))?.waiting).toBeUndefined();
  await expect(expire(one)).resolves.toBe(true);
});

it('lets no version expire that the target never got, and whose resync it refused', async () => {
  const { clock, one, two } = await servers('one', 'two');
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  await one.replicateTo(two);
  two.intercept = () => refusal;
  await one.resync(two, clock);
  await one.deliver();
  await expect(expire(one)).rejects.toMatchObject({ code: 'OperationAborted' });
  two.intercept = undefined;
  clock.now += 1_000;
  await one.resync(two, clock);
  await one.deliver();
  expect(await state(one)).toMatchObject({ status: 'COMPLETED' });
  await expect(expire(one)).resolves.toBe(true);
});

/** The first outcome of a version that waits for the first target. */
async function outcome(server: LinkedServer, more: Partial<ReplicationOutcome>): Promise<ReplicationOutcome> {
  const { versionId = 'null', replication } = await stored(server);
  const target = replication?.waiting?.[0] ?? '';
  return { bucket, key, versionId, target, status: 'FAILED', changed: undefined, ...more };
}

it('lets a version expire that no delivery can bring to the target', async () => {
  const { clock, one, two } = await servers('one', 'two');
  await one.replicateTo(two);
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  const givenUp = { time: clock.now, isImpossible: true };
  await one.calls.layer.setReplicationStatus(await outcome(one, { refused: 'SSE-C', givenUp }));
  expect(await state(one)).toMatchObject({ status: 'FAILED' });
  await expect(expire(one)).resolves.toBe(true);
});

it('waits for a change that came after the one that was given up', async () => {
  const { clock, one, two } = await servers('one', 'two');
  await one.replicateTo(two);
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  const givenUp = { time: clock.now, isImpossible: true };
  clock.now += 1;
  await one.calls.layer.putObjectTags(bucket, key, { k: 'v' });
  await one.calls.layer.setReplicationStatus(await outcome(one, { refused: 'no', givenUp }));
  expect((await state(one))?.waiting).toHaveLength(1);
});

it('stays FAILED for a target that has given up, whatever another one takes', async () => {
  const { clock, one, two, three } = await servers('one', 'two', 'three');
  await one.replicateTo(two);
  await one.replicateTo(three);
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  const givenUp = { time: clock.now, isImpossible: true };
  await one.calls.layer.setReplicationStatus(await outcome(one, { refused: 'no', givenUp }));
  await one.calls.layer.setReplicationStatus(await outcome(one, { status: 'COMPLETED' }));
  expect((await state(one))?.status).toBe('FAILED');
});

it('keeps the time of the tags of format 3 where it forgets a target', async () => {
  const { clock, one, two } = await servers('one', 'two');
  await one.replicateTo(two);
  const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text'));
  clock.now += 1_000;
  await one.calls.layer.putObjectTags(bucket, key, { k: 'new' });
  const { changes } = await stored(one);
  await asOlder(one);
  await one.calls.layer.setReplicationStatus(await outcome(one, { status: 'FORGOTTEN' }));
  expect(await state(one)).toBeUndefined();
  expect((await stored(one)).changes?.tags).toEqual(changes?.tags);
  expect((await stored(one)).versionId).toBe(versionId);
});

it('keeps COMPLETED of a record from before the states by target where it forgets one of two', async () => {
  const { one, two, three } = await servers('one', 'two', 'three');
  await one.replicateTo(two);
  await one.replicateTo(three);
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  one.cut.add('three');
  await one.deliver();
  await asOlder(one);
  await one.calls.layer.setReplicationStatus(await outcome(one, { status: 'FORGOTTEN' }));
  expect(await state(one)).toEqual({ status: 'COMPLETED' });
});

it('does not bring back what the target removed of a record from before the states by target', async () => {
  const { clock, one, two } = await servers('one', 'two');
  await one.replicateTo(two);
  const { versionId = '' } = await one.calls.layer.putObject(put(bucket, key, 'text'));
  await one.deliver();
  await asOlder(one);
  await two.calls.layer.deleteObject(bucket, key, { versionId });
  clock.now += 1_000;
  await one.calls.layer.putObjectTags(bucket, key, { k: 'v' });
  await one.deliver();
  await expect(two.calls.layer.headObject(bucket, key, { versionId })).rejects.toMatchObject({ code: 'NoSuchVersion' });
  expect(await state(one)).toMatchObject({ status: 'FAILED' });
});
