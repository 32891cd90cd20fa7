import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Checkpoint, markEarlierRecords, markMisfit, misfitOf, promote, writeCheckpoint } from './checkpoint.ts';
import { MemoryRecordStore } from './memory/record-store.ts';
import { readUnpromoted, unpromotedText } from './promotion.ts';

/** The place beside the bodies. A test brings back an earlier moment of it. */
function bodies(content?: Checkpoint) {
  return {
    content,
    fails: false,
    readCheckpoint() {
      return Promise.resolve(this.content);
    },
    writeCheckpoint(next: Checkpoint) {
      if (this.fails) return Promise.reject(new Error('cut off'));
      this.content = next;
      return Promise.resolve();
    },
  };
}

async function stores(checkpoints: number) {
  const all = { records: new MemoryRecordStore(), marker: bodies() };
  for (let n = 0; n < checkpoints; n += 1) await writeCheckpoint(all, randomBytes);
  return all;
}

describe('records and the bodies beside them', () => {
  it.each([0, 1, 5])('fit after %i checkpoints', async (count) => {
    expect(await misfitOf(await stores(count))).toBeUndefined();
  });

  it.each([0, 1, 5])('fit when the writing of the next is interrupted after %i', async (count) => {
    const all = await stores(count);
    all.marker.fails = true;
    await expect(writeCheckpoint(all, randomBytes)).rejects.toThrow('cut off');
    expect(await misfitOf(all)).toBeUndefined();
    all.marker.fails = false;
    await writeCheckpoint(all, randomBytes);
    expect(await misfitOf(all)).toBeUndefined();
  });

  it('do not fit where one of them is of an earlier moment', async () => {
    const all = await stores(3);
    const yesterday = { records: all.records.copy(), marker: bodies(all.marker.content) };
    for (let n = 0; n < 3; n += 1) await writeCheckpoint(all, randomBytes);
    expect(await misfitOf({ ...all, records: yesterday.records })).toBe('older-records');
    expect(await misfitOf({ ...all, marker: yesterday.marker })).toBe('older-bodies');
    expect(await misfitOf({ ...all, marker: bodies() })).toBe('older-bodies');
    expect(await misfitOf({ ...all, records: new MemoryRecordStore() })).toBe('older-records');
  });

  it('do not fit where both went on from the same store', async () => {
    const all = await stores(3);
    const twin = { records: all.records.copy(), marker: bodies(all.marker.content) };
    for (const one of [all, twin]) for (let n = 0; n < 2; n += 1) await writeCheckpoint(one, randomBytes);
    expect(await misfitOf({ ...all, records: twin.records })).toBe('other-bodies');
  });
});

describe('a store whose parts do not fit', () => {
  it('is marked, gets no checkpoint, and goes on when it is promoted', async () => {
    const all = await stores(3);
    const records = all.records.copy();
    await writeCheckpoint(all, randomBytes);
    await writeCheckpoint(all, randomBytes);
    const wrong = { records, marker: all.marker };
    const found = await markMisfit(wrong, () => 0, randomBytes);
    expect(found).toEqual({ since: '1970-01-01T00:00:00.000Z', reason: 'older-records' });
    expect(found && unpromotedText(found)).toContain('of an earlier moment');
    const before = all.marker.content;
    await writeCheckpoint(wrong, randomBytes);
    expect(all.marker.content).toEqual(before);
    // The right records fit as before.
    expect(await misfitOf(all)).toBeUndefined();
    await promote(wrong, randomBytes);
    expect(await readUnpromoted(records)).toBeUndefined();
    expect(await misfitOf(wrong)).toBeUndefined();
    await writeCheckpoint(wrong, randomBytes);
    expect(await misfitOf(wrong)).toBeUndefined();
  });

  it('fits after a promotion that was interrupted', async () => {
    const all = await stores(3);
    const wrong = { records: all.records.copy(), marker: all.marker };
    await writeCheckpoint(all, randomBytes);
    await writeCheckpoint(all, randomBytes);
    await markMisfit(wrong, () => 0, randomBytes);
    all.marker.fails = true;
    await expect(promote(wrong, randomBytes)).rejects.toThrow('cut off');
    expect(await misfitOf(wrong)).toBeUndefined();
  });
});

describe('a server that runs', () => {
  it('marks records that were put back beneath it, and none that go on', async () => {
    const all = await stores(3);
    expect(await markEarlierRecords(all, () => 0, randomBytes)).toBeUndefined();
    const yesterday = all.records.copy();
    await writeCheckpoint(all, randomBytes);
    const found = await markEarlierRecords({ ...all, records: yesterday }, () => 0, randomBytes);
    expect(found?.reason).toBe('older-records');
    expect(await readUnpromoted(yesterday)).toEqual(found);
  });

  it('takes a checkpoint that another server wrote late for none', async () => {
    const all = await stores(3);
    const late = all.marker.content;
    for (let n = 0; n < 3; n += 1) await writeCheckpoint(all, randomBytes);
    const beside = { ...all, marker: bodies(late) };
    expect(await markEarlierRecords(beside, () => 0, randomBytes)).toBeUndefined();
  });
});
