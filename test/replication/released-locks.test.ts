import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeObject, storedObject } from '../../server/objects/records/object-record.ts';
import { encodeRecord, recordKeys } from '../../server/objects/records/record-format.ts';
import { decodeReplication } from '../../server/objects/replication/queue-replication.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';

const key = 'key';
const hour = 3_600_000;

/** Two servers that replicate to each other, and have a version that the first one made. */
async function twoWay() {
  // Not a whole second, as Last-Modified has.
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) + 123 };
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
  const { lock, replication } = await layer.headObject(bucket, key, { versionId });
  return { lock, status: replication?.status, refused: Object.values(replication?.targets ?? {})[0]?.refused };
}

const retained = (mode: 'GOVERNANCE' | 'COMPLIANCE', until: number) => ({
  retention: { mode, until: new Date(until) },
  bypassGovernance: true,
});

const gone = { code: 'NoSuchVersion' };

describe('a version that is removed after its lock has ended', () => {
  it('goes at the target too where GOVERNANCE was lifted, with the versions that follow', async () => {
    const { clock, left, right, versionId, exchange } = await twoWay();
    const { layer } = left.calls;
    await layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + 1_000 * hour));
    await exchange();
    clock.now += 1_000;
    await layer.putObjectRetention(bucket, key, { retention: undefined, bypassGovernance: true });
    await layer.deleteObject(bucket, key, { versionId });
    const next = await layer.putObject(put(bucket, key, 'next'));
    await exchange();
    await expect(shown(right, versionId)).rejects.toMatchObject(gone);
    expect(await shown(right, next.versionId ?? '')).toMatchObject({ status: 'REPLICA' });
  });

  it('goes at the target too where GOVERNANCE was shortened and has ended', async () => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    const { layer } = left.calls;
    await layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + 1_000 * hour));
    await exchange();
    cut();
    clock.now += 1_000;
    await layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + 1_000));
    clock.now += 5_000;
    await layer.deleteObject(bucket, key, { versionId });
    heal();
    await exchange();
    await expect(shown(right, versionId)).rejects.toMatchObject(gone);
  });

  it('goes at the target too where that did not answer at first what lock it has', async () => {
    const { clock, left, right, versionId, exchange } = await twoWay();
    const { layer } = left.calls;
    await layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + 1_000 * hour));
    await exchange();
    clock.now += 1_000;
    await layer.putObjectRetention(bucket, key, { retention: undefined, bypassGovernance: true });
    await layer.deleteObject(bucket, key, { versionId });
    right.intercept = ({ method }) => (method === 'HEAD' ? { status: 503, headers: {}, text: '' } : undefined);
    await exchange().catch(() => undefined);
    right.intercept = undefined;
    await exchange();
    await expect(shown(right, versionId)).rejects.toMatchObject(gone);
  });

  it('stays at the target where GOVERNANCE came after the one that was lifted', async () => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    await left.calls.layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + hour));
    await exchange();
    cut();
    clock.now += 5;
    await left.calls.layer.putObjectRetention(bucket, key, { retention: undefined, bypassGovernance: true });
    await left.calls.layer.deleteObject(bucket, key, { versionId });
    clock.now += 5;
    await right.calls.layer.putObjectRetention(bucket, key, retained('GOVERNANCE', clock.now + 2 * hour));
    heal();
    await exchange();
    expect(await shown(right, versionId)).toMatchObject({ lock: { retention: { mode: 'GOVERNANCE' } } });
  });

  it('goes at the target too where it is the null version and its hold was released', async () => {
    const clock: TestClock = { now: Date.UTC(2027, 0, 1) + 123 };
    const [left, right] = [await LinkedServer.start('left', clock), await LinkedServer.start('right', clock)];
    const { layer } = left.calls;
    await layer.putObject(put(bucket, key, 'text', { replica: { versionId: 'null', modified: new Date(clock.now) } }));
    await left.replicateTo(right);
    clock.now += 1_000;
    await layer.putObjectLegalHold(bucket, key, { versionId: 'null', legalHold: true });
    await left.resync(right, clock);
    await left.deliver();
    expect(await shown(right, 'null')).toMatchObject({ lock: { legalHold: true } });
    clock.now += 1_000;
    await layer.putObjectLegalHold(bucket, key, { versionId: 'null', legalHold: false });
    await layer.deleteObject(bucket, key, { versionId: 'null' });
    while ((await left.deliver()) > 0);
    await expect(shown(right, 'null')).rejects.toMatchObject(gone);
  });
});

it('a removal that the target refuses holds up no other version of the key', async () => {
  const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
  cut();
  await right.calls.layer.putObjectRetention(bucket, key, retained('COMPLIANCE', clock.now + hour));
  await left.calls.layer.deleteObject(bucket, key, { versionId });
  const next = await left.calls.layer.putObject(put(bucket, key, 'next'));
  heal();
  await exchange();
  expect(await shown(right, versionId)).toMatchObject({ lock: { retention: { mode: 'COMPLIANCE' } } });
  expect(await shown(right, next.versionId ?? '')).toMatchObject({ status: 'REPLICA' });
  expect(await left.queued(right)).toHaveLength(1);
});

/** Writes the record as a server of format 3 has written it. */
async function asFormat3({ calls: { records } }: LinkedServer, more: { readonly changed?: number } = {}) {
  const recordKey = recordKeys.object(bucket, key);
  const stored = storedObject(await records.get(recordKey), bucket, key);
  if (stored?.record.replication === undefined) throw new Error('no record');
  const { changes: _changes, replication, ...rest } = stored.record;
  const { targets: _targets, ...state } = replication;
  const value = encodeObject({ ...rest, replication: { ...state, ...more } });
  await commitOnce(records, { put: [{ key: recordKey, value }] }, randomBytes);
}

describe('a release of a legal hold by a server of format 3', () => {
  it('reaches the target with its own time', async () => {
    const { clock, left, right, versionId, exchange } = await twoWay();
    const { layer } = left.calls;
    await layer.putObjectLegalHold(bucket, key, { legalHold: true });
    await exchange();
    await asFormat3(right);
    clock.now += 1_000;
    await layer.putObjectLegalHold(bucket, key, { legalHold: false });
    await asFormat3(left);
    await exchange();
    expect(await shown(right, versionId)).toMatchObject({ lock: { legalHold: false } });
    await layer.deleteObject(bucket, key, { versionId });
    const next = await layer.putObject(put(bucket, key, 'next'));
    await exchange();
    expect(await shown(right, next.versionId ?? '')).toMatchObject({ status: 'REPLICA' });
  });

  it('does not end a hold that the target has set since', async () => {
    const { clock, left, right, versionId, exchange, cut, heal } = await twoWay();
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    await exchange();
    cut();
    clock.now += 1_000;
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: false });
    clock.now += 1_000;
    await right.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    await asFormat3(right, { changed: clock.now });
    await asFormat3(left);
    heal();
    await exchange();
    expect(await shown(right, versionId)).toMatchObject({ lock: { legalHold: true } });
    expect(await shown(left, versionId)).toMatchObject({ lock: { legalHold: true } });
  });

  it('is FAILED where the queue does not know its time', async () => {
    const { clock, left, right, versionId, exchange } = await twoWay();
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: true });
    await exchange();
    await asFormat3(right);
    clock.now += 1_000;
    await left.calls.layer.putObjectLegalHold(bucket, key, { legalHold: false });
    await asFormat3(left);
    for (const entry of await left.queued(right)) {
      const { legalHoldChanged: _time, modified: _modified, ...older } = decodeReplication(entry);
      await commitOnce(left.calls.records, { put: [{ key: entry.key, value: encodeRecord(older) }] }, randomBytes);
    }
    await left.deliver();
    expect(await shown(right, versionId)).toMatchObject({ lock: { legalHold: true } });
    const state = await shown(left, versionId);
    expect(state).toMatchObject({ status: 'FAILED' });
    expect(state.refused).toMatch(/legal hold/);
  });
});

async function complianceBeforeGovernance() {
  const servers = await twoWay();
  const { clock, left, right, cut, heal } = servers;
  cut();
  await left.calls.layer.putObjectRetention(bucket, key, retained('COMPLIANCE', clock.now + hour));
  clock.now += 10_000;
  const until = clock.now + 1_000 * hour;
  await right.calls.layer.putObjectRetention(bucket, key, retained('GOVERNANCE', until));
  heal();
  return { ...servers, governance: { retention: { mode: 'GOVERNANCE', until: new Date(until) } } };
}

describe('an older COMPLIANCE and a newer GOVERNANCE that ends later', () => {
  it('are both kept, and FAILED, until COMPLIANCE ends', async () => {
    const { left, right, versionId, exchange, governance } = await complianceBeforeGovernance();
    await exchange();
    const state = await shown(left, versionId);
    expect(state).toMatchObject({ lock: { retention: { mode: 'COMPLIANCE' } }, status: 'FAILED' });
    expect(state.refused).toMatch(/COMPLIANCE/);
    expect(await shown(right, versionId)).toMatchObject({ lock: governance });
  });

  it('leave GOVERNANCE after COMPLIANCE has ended', async () => {
    const { clock, left, right, versionId, exchange, governance } = await complianceBeforeGovernance();
    clock.now += 2 * hour;
    await exchange();
    expect(await shown(left, versionId)).toMatchObject({ lock: governance });
    expect(await shown(right, versionId)).toMatchObject({ lock: governance });
  });
});

it('a version that is there already gets the lock that came since, or is not COMPLETED', async () => {
  const { clock, left, right, versionId, exchange } = await twoWay();
  const { records, layer } = left.calls;
  const { versionId: second = '' } = await layer.putObject(put(bucket, key, 'second'));
  const [entry] = await left.queued(right);
  const recordKey = recordKeys.object(bucket, key);
  const before = storedObject(await records.get(recordKey), bucket, key);
  if (entry === undefined || before === undefined) throw new Error('nothing is queued');
  await exchange();
  // The server ended between the delivery and its commit: the entry and the state are as before.
  const again = [
    { key: recordKey, value: encodeObject(before.record) },
    { key: entry.key, value: entry.value },
  ];
  await commitOnce(records, { put: again }, randomBytes);
  clock.now += 1_000;
  await layer.putObjectLegalHold(bucket, key, { versionId: second, legalHold: true });
  right.intercept = ({ headers }) =>
    headers?.['x-amz-copy-source'] === undefined
      ? undefined
      : {
          status: 403,
          headers: { server: 'Coffer', 'x-amz-request-id': 'R' },
          text: '<Error><Code>AccessDenied</Code><Message>no</Message></Error>',
        };
  await left.deliver();
  expect(await shown(left, second)).toMatchObject({ status: 'FAILED' });
  expect(await shown(left, versionId)).toMatchObject({ status: 'COMPLETED' });
});
