import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FakeKeyService } from '../../test/support/encryption/fake-key-service.ts';
import { KeyProof } from '../encryption/key-proof.ts';
import { keyServiceKeys } from '../encryption/key-service-keys.ts';
import { readBackgroundTasks, TaskReport } from '../maintenance/background-tasks.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { watchKeys } from './watch-keys.ts';

function watched({ leads = true, endpoints = ['https://a:7373', 'https://b:7373'] } = {}) {
  const [records, service] = [new MemoryRecordStore(), new FakeKeyService()];
  const source = keyServiceKeys(service, { defaultKey: 'default-key', proof: new KeyProof({ records }) });
  const away = new Set<string>();
  const log: string[] = [];
  const write = (_fields: object, message: string) => void log.push(message);
  let now = 1_000_000;
  const watch = watchKeys({
    keys: { endpoints, source, answers: (endpoint: string) => Promise.resolve(!away.has(endpoint)) },
    records,
    lease: { hold: () => (leads ? { number: 1, signal: new AbortController().signal } : undefined) },
    log: { info: write, warn: write, error: write },
    tasks: new TaskReport({ records, random: randomBytes, clock: () => now }),
  } as unknown as Parameters<typeof watchKeys>[0]);
  const round = async () => {
    now += 30_000;
    await watch.now();
  };
  const task = async () =>
    (await readBackgroundTasks(records, () => now)).find((one) => one.task === 'key-proof')?.failure?.error;
  return { records, service, source, away, log, round, task };
}

describe('the watch of the key service', () => {
  it('logs one of several key servers that does not answer, once, and its return', async () => {
    const { away, log, round } = watched();
    away.add('https://b:7373');
    await round();
    await round();
    away.clear();
    await round();
    expect(log).toEqual([
      'key server https://b:7373 does not answer; 1 of 2 answer',
      'key server https://b:7373 is back',
    ]);
  });

  it('logs it on a server that does not lead too', async () => {
    const { away, log, round } = watched({ leads: false });
    away.add('https://a:7373');
    await round();
    expect(log).toHaveLength(1);
  });

  it('reports each key that is another one than sealed data, by name, while cached data keys hide it', async () => {
    const { service, source, round, task } = watched();
    service.keys.set('used', randomBytes(32));
    await source.generate('default-key', { 'coffer:bucket': 'b' });
    await source.generate('used', { 'coffer:bucket': 'b' });
    await round();
    expect(await task()).toBeUndefined();
    service.keys.set('used', randomBytes(32));
    await round();
    expect(await task()).toContain('the key used of the key service is not the one that sealed data here');
    expect(await task()).not.toContain('default-key');
  });

  it('reports an outage, and its end with the next round', async () => {
    const { service, round, task } = watched();
    service.failing = 'unavailable';
    await round();
    await round();
    await round();
    expect(await task()).toContain('the key service cannot use default-key now');
    service.failing = undefined;
    await round();
    await round();
    expect(await task()).toBeUndefined();
  });
});
