import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { IdentityProvider } from '../../api/object.ts';
import type { ProviderCheck } from './check-provider.ts';
import { ProviderChecks } from './provider-checks.ts';

const provider = { kind: 'IdentityProvider', metadata: { name: 'a' } } as unknown as IdentityProvider;
const good: ProviderCheck = { kind: 'good', issuer: 'https://id', warnings: [] };
const broken: ProviderCheck = { kind: 'broken', reason: 'Unreachable', message: 'no' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const now = () => new Date();
const throws = () => Promise.reject(new Error('no pod'));

function checks(results: ProviderCheck[]) {
  const check = vi.fn(() => Promise.resolve(results.shift() ?? good));
  const onResult = vi.fn();
  return { check, onResult, checks: new ProviderChecks({ check, onResult, now, random: () => 0.5 }) };
}

describe('checks of a provider', () => {
  it('are pending at first, then tell', async () => {
    const { checks: all, onResult } = checks([good]);
    expect(all.state(provider, 's', '1')).toEqual({ kind: 'pending' });
    await vi.advanceTimersByTimeAsync(0);
    expect(onResult).toHaveBeenCalledOnce();
    expect(all.state(provider, 's', '1')).toEqual(good);
  });
  it('are not repeated by asking', async () => {
    const { checks: all, check } = checks([good]);
    all.state(provider, 's', '1');
    await vi.advanceTimersByTimeAsync(0);
    all.state(provider, 's', '1');
    expect(check).toHaveBeenCalledOnce();
  });
  it('start afresh for a new version', async () => {
    const { checks: all, check } = checks([good, broken]);
    all.state(provider, 's', '1');
    await vi.advanceTimersByTimeAsync(0);
    expect(all.state(provider, 's', '2')).toEqual({ kind: 'pending' });
    await vi.advanceTimersByTimeAsync(0);
    expect(all.state(provider, 's', '2')).toEqual(broken);
    expect(check).toHaveBeenCalledTimes(2);
  });
  it('forget the result of a version that was replaced meanwhile', async () => {
    const first = Promise.withResolvers<ProviderCheck>();
    const results = [first.promise, Promise.resolve(good)];
    const all = new ProviderChecks({
      check: () => results.shift() ?? first.promise,
      onResult: vi.fn(),
      now,
      random: () => 0,
    });
    all.state(provider, 's', '1');
    all.state(provider, 's', '2');
    first.resolve(broken);
    await vi.advanceTimersByTimeAsync(0);
    expect(all.state(provider, 's', '2')).toEqual(good);
  });
  it('are repeated when they are asked for and their time has come', async () => {
    const { checks: all, onResult } = checks([broken, broken, good]);
    for (const pause of [0, 1_000, 2_000]) {
      expect(all.nextInMs('a') ?? 0).toBe(pause);
      await vi.advanceTimersByTimeAsync(pause);
      all.state(provider, 's', '1');
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(all.state(provider, 's', '1')).toEqual(good);
    expect(onResult).toHaveBeenCalledTimes(3);
    expect(all.nextInMs('a')).toBe(600_000);
  });
  it('pause longer after each failure, up to a minute', async () => {
    const { checks: all } = checks(Array.from({ length: 50 }, () => broken));
    const pauses: (number | undefined)[] = [];
    for (let turn = 0; turn < 9; turn++) {
      all.state(provider, 's', '1');
      await vi.advanceTimersByTimeAsync(0);
      pauses.push(all.nextInMs('a'));
      await vi.advanceTimersByTimeAsync(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
  it('keep what was known while the next one is under way', async () => {
    const second = Promise.withResolvers<ProviderCheck>();
    const results = [Promise.resolve(good), second.promise];
    const check = () => results.shift() ?? second.promise;
    const all = new ProviderChecks({ check, onResult: vi.fn(), now, random: () => 0.5 });
    all.state(provider, 's', '1');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(all.state(provider, 's', '1')).toEqual(good);
    expect(all.nextInMs('a')).toBeUndefined();
  });
  it('that throw are broken, and tried again', async () => {
    const all = new ProviderChecks({ check: throws, onResult: vi.fn(), now, random: () => 0.5 });
    all.state(provider, 's', '1');
    await vi.advanceTimersByTimeAsync(0);
    expect(all.state(provider, 's', '1')).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringMatching('no pod'),
    });
  });
});
