import { expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { switchedRecords } from '../../../test/support/store/switched-records.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { decodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { withChanges } from '../records/attribute-changes.ts';
import { changesOf } from '../records/change-times.ts';

const made = Date.UTC(2026, 0, 1);

async function lockedBucket(records: MemoryRecordStore) {
  let now = made;
  const { layer } = testLayer({ records, clock: () => now });
  await layer.createBucket('bucket', { location: '', objectLock: true });
  await layer.putObject(put('bucket', 'key', 'text'));
  return {
    layer,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    record: async (): Promise<ObjectRecord> => {
      const entry = await records.get(recordKeys.object('bucket', 'key'));
      return decodeObject(entry?.value ?? Buffer.of(), 'bucket', 'key');
    },
  };
}

it('has a time of its own for tags, retention and legal hold', async () => {
  const { layer, pass, record } = await lockedBucket(await switchedRecords(new MemoryRecordStore()));
  expect((await record()).changes).toBeUndefined();
  pass(1_000);
  await layer.putObjectTags('bucket', 'key', { a: 'b' });
  pass(1_000);
  await layer.putObjectLegalHold('bucket', 'key', { legalHold: true });
  pass(1_000);
  const retention = { mode: 'GOVERNANCE' as const, until: new Date(made + 1e9) };
  await layer.putObjectRetention('bucket', 'key', { retention, bypassGovernance: false });
  // A client that sets the same value has changed it too: an older change of another server must not win later.
  pass(1_000);
  await layer.putObjectTags('bucket', 'key', { a: 'b' });
  const changed = await record();
  expect(changed.changes).toEqual({
    tags: { at: made + 4_000 },
    legalHold: { at: made + 2_000 },
    retention: { at: made + 3_000 },
  });
  expect(changesOf(changed).retention).toBe(made + 3_000);
  expect(changesOf(changed).metadata).toBe(made);
});

it('is that of a removal of tags too, where there are none', async () => {
  const { layer, pass, record } = await lockedBucket(await switchedRecords(new MemoryRecordStore()));
  pass(1_000);
  await layer.putObjectTags('bucket', 'key', {});
  expect((await record()).changes).toEqual({ tags: { at: made + 1_000 } });
});

it('is not written before all servers can read it', async () => {
  const { layer, pass, record } = await lockedBucket(new MemoryRecordStore());
  pass(1_000);
  await layer.putObjectTags('bucket', 'key', { a: 'b' });
  expect((await record()).changes).toBeUndefined();
});

it('is that of tags and metadata in a record of format 3, also once one of them changes', () => {
  const before = { modified: made, replication: { status: 'COMPLETED', changed: made + 5 } } as ObjectRecord;
  expect(changesOf(before)).toEqual({ tags: made + 5, metadata: made + 5, retention: made, legalHold: made });
  // The time of the change is also that which older servers read.
  const tagged = { ...before, tags: { a: 'b' }, replication: { status: 'PENDING', changed: made + 9 } } as ObjectRecord;
  const after = withChanges(before, tagged, made + 9);
  expect(changesOf(after)).toEqual({ tags: made + 9, metadata: made + 5, retention: made, legalHold: made });
});

it('is after that of the change before, also if another server with a fast clock made it', () => {
  const held = {
    modified: made,
    lock: { legalHold: true },
    changes: { legalHold: { at: made + 500 } },
  } as ObjectRecord;
  const released = { ...held, lock: { legalHold: false } };
  expect(changesOf(withChanges(held, released, made + 9)).legalHold).toBe(made + 501);
});

it('is not that of another attribute', () => {
  const before = { modified: made } as ObjectRecord;
  const tagged = { ...before, tags: { a: 'b' }, replication: { status: 'PENDING', changed: made + 9 } } as ObjectRecord;
  expect(changesOf(withChanges(before, tagged, made + 9)).retention).toBe(made);
});

it('of a version from another server is the one that it says for each attribute, to the nanosecond', async () => {
  const { layer, record } = await lockedBucket(await switchedRecords(new MemoryRecordStore()));
  const versionId = `${(made + 10).toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
  const changes = { tags: `${made + 20}.000007`, retention: made + 10, legalHold: made + 30 };
  const replica = { versionId, modified: new Date(made + 10), changed: new Date(made + 30), changes };
  await layer.putObject(put('bucket', 'key', 'text', { replica, tags: { a: 'b' } }));
  // The retention is as old as the version.
  expect((await record()).changes).toEqual({ tags: { at: changes.tags }, legalHold: { at: changes.legalHold } });
  await layer.putReplicaAttributes({
    bucket: 'bucket',
    key: 'key',
    versionId,
    headers: { metadata: {} },
    tags: { a: 'c' },
    lock: { legalHold: true },
    modified: new Date(made + 10),
    changes: { tags: made + 40, legalHold: made + 60 },
    may: { tags: true, retention: true, bypassGovernance: true, legalHold: true },
    by: undefined,
  });
  expect((await record()).changes).toEqual({ tags: { at: made + 40 }, legalHold: { at: made + 60 } });
});

it('of a version from another server is not written before all servers can read it', async () => {
  const { layer, record } = await lockedBucket(new MemoryRecordStore());
  const versionId = `${(made + 10).toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
  const replica = { versionId, modified: new Date(made + 10), changes: { tags: made + 20 } };
  await layer.putObject(put('bucket', 'key', 'text', { replica, tags: { a: 'b' } }));
  expect(await record()).toMatchObject({ versionId, tags: { a: 'b' } });
  expect((await record()).changes).toBeUndefined();
});
