import { describe, expect, it } from 'vitest';
import { key } from '../keys.ts';
import { commitId } from '../../../test/support/store/patient.ts';
import { describeRecordStore } from '../../../test/support/store/record-store.conformance.ts';
import { Faults, turn } from './faults.ts';
import { MemoryRecordStore } from './record-store.ts';

describeRecordStore('memory', { open: () => Promise.resolve(new MemoryRecordStore({ places: 'unchecked' })) });

for (const seed of [1, 2, 3]) {
  describeRecordStore(`memory that fails, seed ${seed}`, {
    open: () => {
      const faults = new Faults({
        seed,
        latencyTicks: 2,
        conflict: 0.1,
        lostAfter: 0.1,
        lostBefore: 0.1,
        late: 0.1,
        unavailable: 0.002,
      });
      return Promise.resolve(new MemoryRecordStore({ places: 'unchecked', faults }));
    },
  });
}

describe('the memory record store', () => {
  it('suffers the same faults from the same seed', async () => {
    expect(await outcomesOf(7)).toEqual(await outcomesOf(7));
    expect(await outcomesOf(7)).not.toEqual(await outcomesOf(8));
  });

  it('loses an acknowledgement after the commit when the script says so', async () => {
    const store = new MemoryRecordStore({ places: 'unchecked' });
    store.faults.script('lostAfter');
    const batch = put('1');
    expect(await store.commit(batch)).toEqual({ kind: 'unknown' });
    expect(await store.outcome(batch.id)).toBe('committed');
  });

  it('loses the commit with its acknowledgement when the script says so', async () => {
    const store = new MemoryRecordStore({ places: 'unchecked' });
    store.faults.script('lostBefore');
    const batch = put('1');
    expect(await store.commit(batch)).toEqual({ kind: 'unknown' });
    expect(await store.outcome(batch.id)).toBe('not-committed');
    expect(await store.get(key('a'))).toBeUndefined();
  });

  it('lets a late commit take effect, unless its outcome was asked before', async () => {
    const store = new MemoryRecordStore({ places: 'unchecked' });
    store.faults.script('late');
    await store.commit(put('late'));
    for (let turns = 0; turns < 30; turns += 1) await turn();
    expect((await store.get(key('a')))?.value.toString()).toBe('late');

    store.faults.script('late');
    const asked = put('asked');
    await store.commit(asked);
    expect(await store.outcome(asked.id)).toBe('not-committed');
    for (let turns = 0; turns < 30; turns += 1) await turn();
    expect((await store.get(key('a')))?.value.toString()).toBe('late');
  });

  it('keeps across a crash what was committed, and nothing that was on its way', async () => {
    const store = new MemoryRecordStore({ places: 'unchecked', faults: new Faults({ latencyTicks: 0 }) });
    await store.commit(put('durable'));
    store.faults.script('late');
    await store.commit(put('on its way'));
    const restarted = store.crash();
    for (let turns = 0; turns < 30; turns += 1) await turn();
    expect((await restarted.get(key('a')))?.value.toString()).toBe('durable');
    await expect(store.get(key('a'))).rejects.toMatchObject({ code: 'closed' });
  });
});

function put(text: string) {
  return { id: commitId(), put: [{ key: key('a'), value: Buffer.from(text) }] };
}

async function outcomesOf(seed: number): Promise<string[]> {
  const store = new MemoryRecordStore({
    places: 'unchecked',
    faults: new Faults({ seed, lostAfter: 0.3, lostBefore: 0.3 }),
  });
  const kinds: string[] = [];
  for (let round = 0; round < 50; round += 1) kinds.push((await store.commit(put(String(round)))).kind);
  return kinds;
}
