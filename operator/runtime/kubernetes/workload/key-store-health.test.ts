import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyStores } from './key-store-health.ts';

const request = { url: 'https://keys:7373/v1/ready', authorities: [] };
let status: number | undefined;
let asked: number;
let changed: string[];
let stores: KeyStores;

beforeEach(() => {
  vi.useFakeTimers();
  [status, asked, changed] = [200, 0, []];
  stores = new KeyStores({
    ask: () => {
      asked += 1;
      return status === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve({ status });
    },
    changed: (workload) => changed.push(workload),
  });
});
afterEach(() => {
  stores.close();
  vi.useRealTimers();
});

const later = () => vi.advanceTimersByTimeAsync(30_000);

describe('a key store', () => {
  it.each([502, 504])('is away while the key service answers %i, and tells each change once', async (away) => {
    expect(stores.isAway('keys', request)).toBe(false);
    await later();
    status = away;
    await later();
    await later();
    expect(stores.isAway('keys', request)).toBe(true);
    status = 200;
    await later();
    expect(stores.isAway('keys', request)).toBe(false);
    expect(changed).toEqual(['keys', 'keys']);
  });

  it.each([undefined, 403, 404, 429, 503])('is as it was while the key service answers %s', async (other) => {
    stores.isAway('keys', request);
    status = 502;
    await later();
    status = other;
    await later();
    expect(stores.isAway('keys', request)).toBe(true);
  });

  it('is asked for twice a minute, however often its state is read, and no more once it is forgotten', async () => {
    for (let time = 0; time < 10; time += 1) stores.isAway('keys', request);
    await later();
    expect(asked).toBe(2);
    stores.forget('keys');
    await later();
    expect(asked).toBe(2);
  });
});
