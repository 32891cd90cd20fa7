import { beforeEach, describe, expect, it } from 'vitest';
import { HeadCache } from './head-cache.ts';

let revision: number | undefined;
let looks: number;
let loads: number;
let time: number;
const records = {
  revision: () => {
    looks += 1;
    return Promise.resolve(revision);
  },
};
const load = (value: string) => () => {
  loads += 1;
  return Promise.resolve(value);
};
const cache = (staleMs: number) => new HeadCache({ records, staleMs, now: () => time });

beforeEach(() => {
  [revision, looks, loads, time] = [1, 0, 0, 0];
});

describe('HeadCache', () => {
  it('loads once, as long as nothing changes', async () => {
    const known = cache(0);
    expect([await known.get('a', load('1')), await known.get('a', load('2'))]).toEqual(['1', '1']);
    expect([loads, looks]).toEqual([1, 2]);
  });

  it('loads again after any change', async () => {
    const known = cache(0);
    await known.get('a', load('1'));
    revision = 2;
    expect(await known.get('a', load('2'))).toBe('2');
  });

  it('does not keep what was read before a change for after it', async () => {
    const known = cache(0);
    const { promise, resolve } = Promise.withResolvers<string>();
    const early = known.get('a', () => promise);
    await Promise.resolve();
    revision = 2;
    expect(await known.get('b', load('b'))).toBe('b');
    resolve('old');
    expect(await early).toBe('old');
    expect(await known.get('a', load('new'))).toBe('new');
  });

  it('looks once in the time that several servers may differ', async () => {
    const known = cache(1_000);
    await known.get('a', load('1'));
    revision = 2;
    time = 999;
    expect(await known.get('a', load('2'))).toBe('1');
    time = 1_000;
    expect(await known.get('a', load('2'))).toBe('2');
    expect(looks).toBe(2);
  });

  it('remembers no failure', async () => {
    const known = cache(0);
    await expect(known.get('a', () => Promise.reject(new Error('disk')))).rejects.toThrow('disk');
    expect(await known.get('a', load('1'))).toBe('1');
  });

  it('rejects when it cannot be told whether anything changed', async () => {
    const known = new HeadCache({ records: { revision: () => Promise.reject(new Error('away')) }, staleMs: 0 });
    await expect(known.get('a', load('1'))).rejects.toThrow('away');
  });
});
