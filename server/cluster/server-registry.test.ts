import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { within } from '../store/keys.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import type { Agreement } from './agreement.ts';
import { ServerRegistry, registryTimes } from './server-registry.ts';

const { every, gone, forgotten } = registryTimes;
let records: MemoryRecordStore;
let now: number;

beforeEach(() => {
  records = new MemoryRecordStore();
  now = 0;
});

function registry(
  id: string,
  more: { keyService?: boolean; tenant?: string; agreement?: Agreement; startedAt?: number } = {},
) {
  const own = () => ({ id, endpoint: `${id}:9000`, version: '1', startedAt: 0, keyService: false, ...more });
  const beats: ServerRegistry[] = [];
  const wait = (ms: number) => pass(ms, ...beats);
  const doubts: string[] = [];
  const onDoubt = (message: string) => doubts.push(message);
  const made = new ServerRegistry({ records, own, random: randomBytes, clock: () => now, wait, onDoubt });
  return Object.assign(made, { beats, doubts });
}

async function pass(ms: number, ...alive: readonly ServerRegistry[]): Promise<void> {
  for (const end = now + ms; now < end; now += every) for (const one of alive) await one.step();
}

const live = (one: ServerRegistry) => one.live().map(({ id }) => id);

describe('the live servers', () => {
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

  it('are known to one that does not serve, without it', async () => {
    await registry('dead').step();
    const [a, watcher] = [registry('a', { tenant: 'one' }), registry('watcher')];
    await pass(every, a);
    expect(await watcher.others()).toMatchObject([{ id: 'a', tenant: 'one' }, { id: 'dead' }]);
    await pass(gone + every, a);
    expect(await watcher.others()).toMatchObject([{ id: 'a' }]);
    await a.step();
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

const members = (one: ServerRegistry) => one.members().map(({ id }) => id);

describe('the members', () => {
  it('are also those that died, who may be back', async () => {
    const [a, b] = [registry('a'), registry('b')];
    await pass(every, b, a);
    await pass(forgotten - 2 * every, a);
    expect([live(a), members(a)]).toEqual([['a'], ['a', 'b']]);
    await pass(4 * every, a);
    expect(members(a)).toEqual(['a']);
  });

  it('are without those that said goodbye', async () => {
    const [a, b] = [registry('a'), registry('b')];
    await pass(every, b, a);
    await b.close();
    await a.step();
    expect(members(a)).toEqual(['a']);
  });
});

it('forgets a server that died long ago', async () => {
  await registry('dead').step();
  const a = registry('a');
  await pass(forgotten + 2 * every, a);
  expect(await Array.fromAsync(records.scan(within('live', 'replica')))).toHaveLength(1);
});

describe('a server that joins', () => {
  const mine: Agreement = { SVC_ROOT_PASSWORD: ['one'], SVC_REGION: ['eu-west-1'] };
  const others: Agreement = { SVC_ROOT_PASSWORD: ['two'], SVC_REGION: ['us-east-1'] };

  it('is published beside those with the same settings, and those that publish none', async () => {
    await registry('old').step();
    await registry('a', { agreement: mine }).join();
    const b = registry('b', { agreement: mine });
    await b.join();
    expect(live(b)).toEqual(['a', 'b', 'old']);
  });

  it('is refused, and not published, while a live one has other settings', async () => {
    const [a, b] = [registry('a', { agreement: mine }), registry('b', { agreement: others })];
    await a.join();
    b.beats.push(a);
    await expect(b.join()).rejects.toThrow(
      'the server a:9000 of this deployment has another SVC_ROOT_PASSWORD and another SVC_REGION (eu-west-1, here us-east-1): give all',
    );
    await a.step();
    expect(live(a)).toEqual(['a']);
  });

  it('waits until one with other settings, which was killed, counts as gone', async () => {
    await registry('dead', { agreement: mine }).join();
    const b = registry('b', { agreement: others });
    await b.join();
    expect([live(b), now, b.doubts.length]).toEqual([['b'], gone, 1]);
  });

  it('is refused as the later one of two that start at the same time', async () => {
    const a = registry('a', { agreement: mine, startedAt: 1 });
    const b = registry('b', { agreement: others, startedAt: 2 });
    const [first, second] = await Promise.allSettled([a.join(), b.join()]);
    expect([first?.status, second?.status]).toEqual(['fulfilled', 'rejected']);
  });

  it('is refused although it started first, where the other one has joined before it was published', async () => {
    const a = registry('a', { agreement: mine, startedAt: 1 });
    const b = registry('b', { agreement: others, startedAt: 2 });
    a.beats.push(b);
    const commit = records.commit.bind(records);
    vi.spyOn(records, 'commit').mockImplementationOnce(async (batch) => {
      await b.join();
      return commit(batch);
    });
    await expect(a.join()).rejects.toThrow('the server b:9000');
    await b.step();
    expect(live(b)).toEqual(['b']);
  });
});
