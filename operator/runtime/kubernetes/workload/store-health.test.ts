import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Instance, InstanceState } from '../../../contract/runtime.ts';
import { WaitingServers } from './store-health.ts';

let asked: string[];
let told: string[];
let answer: () => Promise<{ status: number; waitsFor?: string }>;
let servers: WaitingServers;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  told = [];
  answer = () => Promise.resolve({ status: 503, waitsFor: 'database' });
  servers = new WaitingServers({
    ask: ({ url }) => {
      asked.push(url);
      return answer();
    },
    changed: (workload) => told.push(workload),
    now: () => new Date(Date.now()),
  });
});
afterEach(() => {
  servers.close();
  vi.useRealTimers();
});

const notReady: InstanceState = { kind: 'not-ready', message: 'its readiness probe fails' };
const instance = (state: InstanceState, index: number): Instance => ({ name: `demo-${index}`, inputs: [], state });

const requestTo = (name: string) => ({ url: `http://${name}/`, authorities: [] });

/** What the instances are said to wait for. */
function look(...states: readonly InstanceState[]): readonly (string | undefined)[] {
  return servers
    .look('demo', states.map(instance), requestTo)
    .map(({ state }) => ('waitsFor' in state ? state.waitsFor : undefined));
}

describe('servers that are not ready', () => {
  it('are asked, one of them, and say what they wait for once it has answered', async () => {
    expect(look({ kind: 'ready' }, notReady, { kind: 'starting' })).toEqual([undefined, undefined, undefined]);
    await vi.advanceTimersByTimeAsync(1);
    expect([asked, told]).toEqual([['http://demo-1/'], ['demo']]);
    expect(look({ kind: 'ready' }, notReady, { kind: 'starting' })).toEqual([undefined, 'database', undefined]);
  });

  it('are asked every 15 s however often somebody looks, and tell only what is new', async () => {
    for (let second = 0; second < 31; second += 1) {
      look({ kind: 'starting' });
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect([asked.length, told.length]).toEqual([3, 1]);
    answer = () => Promise.resolve({ status: 503, waitsFor: 'key-service' });
    await vi.advanceTimersByTimeAsync(15_000);
    expect(told.length).toBe(2);
    expect(look({ kind: 'starting' })).toEqual(['key-service']);
  });

  it('are not asked once they are ready, nor more often when they are so by turns', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      look(notReady);
      await vi.advanceTimersByTimeAsync(500);
      expect(look({ kind: 'ready' })).toEqual([undefined]);
      await vi.advanceTimersByTimeAsync(500);
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(1);
  });

  it.each([
    ['start', () => Promise.resolve({ status: 503, waitsFor: 'start' })],
    ['nothing', () => Promise.resolve({ status: 503 })],
    ['a word of another version', () => Promise.resolve({ status: 503, waitsFor: 'moon' })],
    ['that they are ready', () => Promise.resolve({ status: 200, waitsFor: 'database' })],
    ['no answer', () => Promise.reject(new Error('refused'))],
  ])('tell nobody of %s', async (_what, said) => {
    answer = said;
    look(notReady);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([told, look(notReady)]).toEqual([[], [undefined]]);
  });

  it('are asked no more when their workload is gone', async () => {
    look(notReady);
    servers.forget('demo');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([]);
  });
});
