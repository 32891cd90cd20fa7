import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { targetArn } from '../../../protocol/s3/bucket-replication.ts';
import { put, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { switchedRecords } from '../../../test/support/store/switched-records.ts';
import { commitOnce } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { Entry } from '../../store/record-store.ts';
import { outboxKeys, queuedAt, uniquePart } from '../events/outbox.ts';
import { decodeReplication, replicationQueue } from './queue-replication.ts';

const bucket = 'bucket';
const key = 'key';
const target = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const arn = targetArn(target, 'other');
const queue = replicationQueue(target);
const rule = { id: 'r', enabled: true, priority: 1, filter: {}, destination: arn, target: arn };
const start = Date.UTC(2027, 0, 1);

let made: TestLayer;
let now: number;
/** The version from before the bucket had versions. */
let nullVersion: { readonly versionId: string; readonly modified: Date };

beforeEach(async () => {
  now = start;
  made = testLayer({ records: await switchedRecords(new MemoryRecordStore()), clock: () => now });
  const { layer } = made;
  await layer.createBucket(bucket, { location: '' });
  const { lastModified } = await layer.putObject(put(bucket, key, 'text'));
  nullVersion = { versionId: 'null', modified: lastModified };
  await layer.putBucketVersioning(bucket, { status: 'Enabled' });
  const all = { deletes: true, deleteMarkers: true, replicaModifications: true, existingObjects: true };
  await layer.putBucketReplication(bucket, { rules: [{ ...rule, ...all }] });
});

async function queued(): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const item of made.records.scan(within('outbox', queue))) if (item.kind === 'entry') found.push(item);
  return found;
}

/** Writes a version, and removes it for good. */
async function removed(): Promise<{ readonly versionId: string; readonly modified: Date }> {
  const { versionId = '', lastModified: modified } = await made.layer.putObject(put(bucket, key, 'text'));
  now += 10;
  await made.layer.deleteObject(bucket, key, { versionId });
  return { versionId, modified };
}

/** Writes a version, and removes it for good as a server of an earlier release does, which queues the removal under its time alone. */
async function removedByEarlier(): ReturnType<typeof removed> {
  const version = await removed();
  const entry = (await queued()).find((one) => {
    const { kind, versionId } = decodeReplication(one);
    return kind === 'removal' && versionId === version.versionId;
  });
  if (entry === undefined) throw new Error('the removal was not queued');
  const change = decodeReplication(entry);
  const put = [{ key: outboxKeys.event(queue, change, uniquePart(change, randomBytes)), value: entry.value }];
  await commitOnce(made.records, { put, delete: [entry.key] }, randomBytes);
  return version;
}

/** Returns how many records of queues the server reads for what `work` does. */
async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const { records } = made;
  const scan = records.scan.bind(records);
  const { start: first, end } = within('outbox', queue);
  let read = 0;
  records.scan = async function* (range) {
    const isOfQueue = range.start.compare(first) >= 0 && range.end.compare(end) <= 0;
    for await (const item of scan(range)) {
      if (isOfQueue) read += 1;
      yield item;
    }
  };
  try {
    await work();
  } finally {
    records.scan = scan;
  }
  return read;
}

function arrives(replica: { readonly versionId: string; readonly modified: Date }): Promise<unknown> {
  return made.layer.putObject(put(bucket, key, 'text', { replica }));
}

const refusal = { code: 'OperationAborted' };

describe('a removal that waits', () => {
  it('is found among many changes of its key without reading them', async () => {
    for (let count = 0; count < 50; count += 1) await removed();
    const version = await removed();
    for (let count = 0; count < 50; count += 1) await made.layer.putObject(put(bucket, key, 'text'));
    const read = await readsOf(() => expect(arrives(version)).rejects.toMatchObject(refusal));
    expect(read).toBe(1);
  });

  it('costs an arriving version that was not removed no read of other changes', async () => {
    for (let count = 0; count < 50; count += 1) await removed();
    expect(await readsOf(() => arrives({ versionId: 'f'.repeat(32), modified: new Date(start) }))).toBe(0);
  });

  it('is found where a server of an earlier release queues it, before and after others', async () => {
    const versions = [];
    for (const one of [removedByEarlier, removed, removedByEarlier]) {
      versions.push(await one());
      now += 60_000;
    }
    for (const version of versions) await expect(arrives(version)).rejects.toMatchObject(refusal);
  });

  it('of an earlier release is found without reading what this release queued', async () => {
    const versions = [await removedByEarlier(), await removedByEarlier()];
    for (let count = 0; count < 50; count += 1) await made.layer.putObject(put(bucket, key, 'text'));
    for (const version of versions) {
      const read = await readsOf(() => expect(arrives(version)).rejects.toMatchObject(refusal));
      expect(read).toBeLessThanOrEqual(versions.length);
    }
  });

  it('of a null version refuses that version alone', async () => {
    await made.layer.deleteObject(bucket, key, { versionId: 'null' });
    await expect(arrives(nullVersion)).rejects.toMatchObject(refusal);
    await arrives({ ...nullVersion, modified: new Date(nullVersion.modified.getTime() + 1) });
  });

  it('says when it was queued', async () => {
    await removed();
    const times = (await queued()).map((entry) => [decodeReplication(entry).kind, queuedAt(entry.key)]);
    expect(times).toEqual([
      ['version', start],
      ['removal', start + 10],
    ]);
  });
});
