import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeRecord, recordKeys } from '../objects/records/record-format.ts';
import type { BlobId } from '../store/blob-store.ts';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { MAX_COUNTED, readTaskProgress } from './task-progress.ts';

const counts = { expired: 0, removed: 0, aborted: 0, locked: 0, failed: 0 };

async function store(put: readonly { readonly key: ReturnType<typeof key>; readonly value: object }[]) {
  const records = new MemoryRecordStore();
  for (let from = 0; from < put.length; from += 500) {
    const some = put.slice(from, from + 500).map((one) => ({ key: one.key, value: encodeRecord(one.value) }));
    await commitOnce(records, { put: some }, randomBytes);
  }
  return records;
}

const removal = (name: string, queued: number) => ({ key: recordKeys.removal(name as BlobId), value: { queued } });
const walk = (bucket: string, state: object) => ({ key: key('lifecycle', bucket), value: { ...counts, ...state } });

describe('the progress of background tasks', () => {
  it('is nothing in a new store', async () => {
    expect(await readTaskProgress(await store([]))).toEqual({
      lifecycle: { kind: 'walk', buckets: 0, done: 0, changed: 0, failed: 0 },
      removals: { kind: 'queue', waiting: 0, more: false },
      'tier-removals': { kind: 'queue', waiting: 0, more: false },
    });
  });

  it('counts the buckets whose lifecycle rules are applied today, and names the last key of the one in progress', async () => {
    const records = await store([
      walk('a', { day: 2, began: 1, ended: 2, expired: 3, transitioned: 1 }),
      walk('b', { day: 2, began: 1, after: 'photos/7', removed: 2, failed: 1 }),
      walk('c', { day: 1, began: 0, ended: 1, aborted: 4 }),
    ]);
    expect((await readTaskProgress(records))['lifecycle']).toEqual({
      kind: 'walk',
      buckets: 3,
      done: 1,
      at: 'b/photos/7',
      changed: 10,
      failed: 1,
    });
  });

  it('counts the bodies that wait for their removal, with the time of the oldest', async () => {
    const records = await store([removal('one', 70), removal('two', 50)]);
    expect((await readTaskProgress(records))['removals']).toEqual({
      kind: 'queue',
      waiting: 2,
      more: false,
      oldest: 50,
    });
  });

  it('reads a bounded part of a long queue', async () => {
    const records = await store(Array.from({ length: MAX_COUNTED + 1 }, (_, index) => removal(`blob-${index}`, 9)));
    expect((await readTaskProgress(records))['removals']).toEqual({
      kind: 'queue',
      waiting: MAX_COUNTED,
      more: true,
      oldest: 9,
    });
  });
});
