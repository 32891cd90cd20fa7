import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { within } from '../store/keys.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { ReplicaRegistry, registryTimes } from './replica-registry.ts';

const { every, gone, forgotten } = registryTimes;
let records: MemoryRecordStore;
let now: number;

beforeEach(() => {
  records = new MemoryRecordStore();
  now = 0;
});

function registry(id: string, more: { keyService?: boolean } = {}) {
  const own = () => ({ id, endpoint: `${id}:9000`, version: '1', startedAt: 0, keyService: more.keyService ?? false });
  return new ReplicaRegistry({ records, own, random: randomBytes, clock: () => now });
}

async function pass(ms: number, ...alive: readonly ReplicaRegistry[]): Promise<void> {
  for (const end = now + ms; now < end; now += every) for (const one of alive) await one.step();
}

const live = (one: ReplicaRegistry) => one.live().map(({ id }) => id);

describe('the live replicas', () => {
  it('are those that tell of themselves', async () => {
    const [a, b] = [registry('a'), registry('b')];
    await pass(10 * gone, a, b);
    expect([live(a), live(b)]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('are without one that stopped', async () => {
    const [a, b] = [registry('a'), registry('b')];
    await pass(every, a, b);
    await b.close();
    await a.step();
    expect(live(a)).toEqual(['a']);
  });

  it('are without one that died, after a while', async () => {
    const [a, b] = [registry('a'), registry('b')];
    await pass(every, b, a);
    await pass(gone - 2 * every, a);
    expect(live(a)).toEqual(['a', 'b']);
    await pass(2 * every, a);
    expect(live(a)).toEqual(['a']);
  });

  it('are for one that has just started all who may be there', async () => {
    await registry('dead').step();
    now += 100 * gone;
    const a = registry('a');
    await a.step();
    expect(live(a)).toEqual(['a', 'dead']);
    await pass(gone + every, a);
    expect(live(a)).toEqual(['a']);
  });

  it('say what changes about them', async () => {
    const more = { keyService: false };
    const [a, b] = [registry('a'), registry('b', more)];
    await pass(every, a, b);
    more.keyService = true;
    await pass(every, b, a);
    expect(a.live()[1]).toMatchObject({ id: 'b', keyService: true });
  });
});

it('forgets a replica that died long ago', async () => {
  await registry('dead').step();
  const a = registry('a');
  await pass(forgotten + 2 * every, a);
  expect(await Array.fromAsync(records.scan(within('live', 'replica')))).toHaveLength(1);
});
