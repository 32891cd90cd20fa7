import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { IdentityProvider } from '../api/object.ts';
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

function checks(results: ProviderCheck[]) {
  const check = vi.fn(() => Promise.resolve(results.shift() ?? good));
  const onResult = vi.fn();
  return { check, onResult, checks: new ProviderChecks({ check, onResult, random: () => 0.5 }) };
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
      random: () => 0,
    });
    all.state(provider, 's', '1');
    all.state(provider, 's', '2');
    first.resolve(broken);
    await vi.advanceTimersByTimeAsync(0);
    expect(all.state(provider, 's', '2')).toEqual(good);
  });
  it('heal a broken provider by themselves', async () => {
    const { checks: all, onResult } = checks([broken, broken, good]);
    all.state(provider, 's', '1');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(all.state(provider, 's', '1')).toEqual(broken);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(all.state(provider, 's', '1')).toEqual(good);
    expect(onResult).toHaveBeenCalledTimes(2);
  });
  it('pause longer after each failure, up to a minute', async () => {
    const { checks: all, check } = checks(Array.from({ length: 50 }, () => broken));
    all.state(provider, 's', '1');
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    // 1 + 2 + 4 + 8 + 16 + 32 s, then one each minute.
    expect(check.mock.calls.length).toBeGreaterThan(12);
    expect(check.mock.calls.length).toBeLessThan(20);
  });
});
