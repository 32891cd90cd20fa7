import type { RootDatabase } from 'lmdb';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { makeEnvironment, openEnvironment } from './environment.ts';
import { causeOf, isOfGivenUpFile } from './errors.ts';
import { FailedWrites } from './failed-writes.ts';

type Finished = (status: number) => unknown;

/** An environment whose write thread ends as the test says. */
function fakeEnvironment() {
  const passes: Finished[] = [];
  const env = { startWriting: (_address: number, finished: Finished) => void passes.push(finished) };
  return { env, passes, root: { env } as unknown as RootDatabase<Buffer, Buffer> };
}

describe('the errors of the write thread', () => {
  it('are told after lmdb-js was', () => {
    const { env, passes, root } = fakeEnvironment();
    const told: unknown[] = [];
    let now = 0;
    const writes = new FailedWrites(
      root,
      (error) => told.push(error),
      () => now,
    );
    env.startWriting(1, (status) => told.push(status));
    for (const status of [1, 2, 0]) passes[0]?.(status);
    expect([told, writes.recent()]).toEqual([[1, 2, 0], undefined]);
    env.startWriting(2, (status) => told.push(status));
    passes[1]?.(5);
    expect(told.slice(3)).toEqual([5, expect.objectContaining({ code: 5 })]);
    expect(writes.recent()).toBe(told[4]);
    now = 10_000;
    expect(writes.recent()).toBeUndefined();
  });

  it('leave what lmdb-js answers to its thread', () => {
    const { env, passes, root } = fakeEnvironment();
    const writes = new FailedWrites(root, () => undefined);
    env.startWriting(1, () => true);
    expect([passes[0]?.(2), writes.recent()]).toEqual([true, undefined]);
  });

  it('tell of a file that was given up', () => {
    const { env, passes, root } = fakeEnvironment();
    const writes = new FailedWrites(root, () => undefined);
    env.startWriting(1, () => undefined);
    passes[0]?.(-30_795);
    expect(isOfGivenUpFile(writes.recent())).toBe(true);
  });

  it('are those of the real environment', async () => {
    const folder = await temporaryFolder();
    makeEnvironment(folder.path);
    const { root } = openEnvironment(folder.path);
    const { env } = root as unknown as {
      readonly env: { startWriting: (address: number, finished: Finished) => unknown };
    };
    const start = env.startWriting.bind(env);
    let passes = 0;
    const counted = (address: number, finished: Finished) => {
      passes += 1;
      return start(address, finished);
    };
    Object.defineProperty(env, 'startWriting', { value: counted, configurable: true });
    const writes = new FailedWrites(root, () => undefined);
    await root.put(Buffer.from('key'), Buffer.from('value'));
    expect([passes > 0, writes.recent()]).toEqual([true, undefined]);
    await root.close();
    await folder.remove();
  });
});

const commit = (commitError: unknown) => Object.assign(new Error('Commit failed'), { commitError });

describe('the cause of a failed commit', () => {
  const last = new Error('a write failed with 5');

  it('is what lmdb-js tells', async () => {
    const cause = new Error('Input/output error');
    expect(await causeOf(commit(Promise.reject(cause)), () => last)).toBe(cause);
    expect(await causeOf(cause, () => last)).toBe(cause);
  });

  it('is the last error of the write thread where lmdb-js never tells', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const lost = commit(new Promise(() => undefined));
      const causes = [causeOf(lost, () => last), causeOf(lost, () => undefined)];
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await Promise.all(causes)).toEqual([last, lost]);
    } finally {
      vi.useRealTimers();
    }
  });
});
