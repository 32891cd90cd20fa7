import { describe, expect, it } from 'vitest';
import { key } from './keys.ts';
import { MemoryRecordStore } from './memory/record-store.ts';
import { commitId } from '../../test/support/store/patient.ts';
import { heedReadOnly, isReadOnly, setReadOnly } from './commits.ts';

function store() {
  const records = new MemoryRecordStore();
  const clock = { now: 0 };
  return { records, clock, heeding: heedReadOnly(records, () => clock.now) };
}

const change = (...parts: string[]) => ({ id: commitId(), put: [{ key: key(...parts), value: Buffer.from('x') }] });

describe('a store that is read-only', () => {
  it('refuses changes, and says so', async () => {
    const { records, heeding } = store();
    await setReadOnly(records, true);
    const rejected = { code: 'read-only', message: expect.stringContaining('read-only off') };
    await expect(heeding.commit(change('o', 'bucket', 'key'))).rejects.toMatchObject(rejected);
    await expect(heeding.commit({ id: commitId(), delete: [key('o', 'x')] })).rejects.toMatchObject(rejected);
    await expect(heeding.commit({ id: commitId(), add: [{ key: key('n'), delta: 1n }] })).rejects.toMatchObject(
      rejected,
    );
  });

  it('still tells its space, and is backed up, where its engine can', async () => {
    const { records } = store();
    expect(heedReadOnly(records)).not.toHaveProperty('backup');
    const space = { free: 1, total: 2 };
    const capable = Object.assign(records, {
      space: () => Promise.resolve(space),
      backup: (folder: string) => Promise.reject(new Error(`to ${folder}`)),
    });
    expect(await heedReadOnly(capable).space?.()).toEqual(space);
    await expect(heedReadOnly(capable).backup?.('out')).rejects.toThrow('to out');
  });

  it('can be read', async () => {
    const { records, heeding } = store();
    await records.commit(change('o'));
    await setReadOnly(records, true);
    expect(await heeding.get(key('o'))).toBeDefined();
  });

  it.each(['live', 'hold', 'system'])('takes what servers write about themselves under %s', async (kind) => {
    const { records, heeding } = store();
    await setReadOnly(records, true);
    expect(await heeding.commit(change(kind, 'x'))).toMatchObject({ kind: 'committed' });
  });

  it('is known within a second, and so is its end', async () => {
    const { records, heeding, clock } = store();
    await heeding.commit(change('o'));
    await setReadOnly(records, true);
    clock.now = 1_000;
    await expect(heeding.commit(change('o'))).rejects.toThrow('read-only');
    await setReadOnly(records, false);
    expect(await isReadOnly(records)).toBe(false);
    clock.now = 2_000;
    expect(await heeding.commit(change('o'))).toMatchObject({ kind: 'committed' });
  });
});
