import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Logger } from '../../platform/output/logger.ts';
import { StoreError } from '../store/store-error.ts';
import { runSites } from './sites.ts';

const told = vi.fn<(fields: object, message: string) => void>();
const log = { info: told, warn: told, error: told } as unknown as Logger;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  told.mockReset();
});

/** Begins a round that reads the state of the sites. The read ends as `fail` says. */
async function running(holdsLease = true) {
  const reads: ((error: Error) => void)[] = [];
  const sealed = { get: () => new Promise((_, reject) => reads.push(reject)) };
  const stores = { records: { get: () => Promise.resolve(undefined) } };
  const services = { sealed, objects: {}, access: { identities: {} }, stores } as unknown as Parameters<
    typeof runSites
  >[0];
  const hold = () => (holdsLease ? { generation: 1 } : undefined);
  const sites = runSites(services, { hold } as Parameters<typeof runSites>[1], log, { region: '', self: 'self' });
  await vi.advanceTimersByTimeAsync(1_000);
  return { sites, reads, fail: (error: Error) => reads[0]?.(error) };
}

describe('the rounds of the sites', () => {
  it('log why one failed', async () => {
    const { sites, fail } = await running();
    fail(new Error('broken'));
    await vi.advanceTimersByTimeAsync(0);
    expect(told.mock.calls).toEqual([[{ err: new Error('broken') }, 'the sites could not be compared']]);
    await sites.stop();
  });

  it('log nothing when the lease is lost, which another server has then', async () => {
    const { sites, fail } = await running();
    fail(new StoreError('lease-lost', 'another server leads'));
    await vi.advanceTimersByTimeAsync(0);
    expect(told).not.toHaveBeenCalled();
    await sites.stop();
  });

  it('log nothing about one that a stop ends', async () => {
    const { sites, fail } = await running();
    const stopped = sites.stop();
    fail(new Error('the records are closed'));
    await stopped;
    expect(told).not.toHaveBeenCalled();
  });

  it('read nothing without the lease', async () => {
    const { sites, reads } = await running(false);
    expect(reads).toEqual([]);
    await sites.stop();
  });
});
