import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { watchLocks } from './lock-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function watched(...results: (readonly string[] | Error)[]) {
  const warned: string[] = [];
  const failed: string[] = [];
  let checks = 0;
  const stop = watchLocks({
    folders: [
      {
        checkLocks() {
          const result = results[checks] ?? [];
          checks += 1;
          return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
        },
      },
    ],
    log: { warn: (_fields: object, message: string) => void warned.push(message), debug: () => undefined } as never,
    fail: (message) => void failed.push(message),
  });
  await vi.advanceTimersByTimeAsync(6_500);
  stop();
  await vi.advanceTimersByTimeAsync(10_000);
  return { warned, failed, checks };
}

describe('the watch of the lock files', () => {
  it('says what it noticed, and goes on', async () => {
    expect(await watched(['lock removed'])).toEqual({ warned: ['lock removed'], failed: [], checks: 3 });
  });

  it('ends the process whose folder another one has locked', async () => {
    const inUse = new ProgramError('in-use', 'in use by another server');
    expect(await watched([], inUse)).toEqual({ warned: [], failed: ['in use by another server'], checks: 2 });
  });

  it('goes on where the folder cannot be looked at', async () => {
    expect(await watched(new Error('EIO'), new Error('EIO'))).toEqual({ warned: [], failed: [], checks: 3 });
  });
});
