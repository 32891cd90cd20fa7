import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { Ballast } from './ballast.ts';

const MiB = 1024 * 1024;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'ballast');
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await folder.remove();
});

/** A reserve on a disk with this number of free bytes; undefined for a disk that does not report them. */
function ballastOn(free: number | undefined, reusable = 0): Ballast {
  const space = free === undefined ? undefined : { free, total: 100 * MiB };
  return new Ballast(
    folder.path,
    { reusableBytes: () => reusable },
    { last: () => space, now: () => Promise.resolve(space) },
  );
}

/** A write to the ballast finds no room from now on, until the ballast is removed. */
function useUpQuota(): void {
  rmSync(file, { force: true });
  symlinkSync('/dev/full', file);
}

describe('the ballast of deletes', () => {
  it('lets everything be written while it is there', () => {
    expect(ballastOn(1 * MiB).isTight()).toBe(false);
  });

  it('lets only deletes be written without it on a full disk', () => {
    const ballast = ballastOn(1 * MiB);
    ballast.release();
    expect(ballast.isTight()).toBe(true);
  });

  it('is restored when the disk has room again', () => {
    const ballast = ballastOn(50 * MiB);
    ballast.release();
    expect(ballast.isTight()).toBe(false);
    expect(ballast.release()).toBe(true);
  });

  it('lets only deletes be written where a quota refuses it, although the disk reports room', () => {
    const ballast = ballastOn(50 * MiB);
    useUpQuota();
    expect(ballast.isTight()).toBe(true);
    // Another try would write all of it again.
    vi.advanceTimersByTime(5_000);
    expect(ballast.isTight()).toBe(true);
    vi.advanceTimersByTime(6_000);
    expect(ballast.isTight()).toBe(false);
  });

  it('lets everything be written where a quota refuses it, while the record file has unused pages', () => {
    const ballast = ballastOn(50 * MiB, 20 * MiB);
    useUpQuota();
    expect(ballast.isTight()).toBe(false);
  });

  it('is restored on a disk that does not report its space', () => {
    const ballast = ballastOn(undefined);
    ballast.release();
    expect(ballast.isTight()).toBe(false);
    expect(ballast.release()).toBe(true);
  });

  it('lets only deletes be written where a disk that does not report its space refuses it', () => {
    const ballast = ballastOn(undefined);
    useUpQuota();
    expect(ballast.isTight()).toBe(true);
  });

  it('lets everything be written where it cannot be placed for another reason', () => {
    const ballast = ballastOn(50 * MiB);
    ballast.release();
    // A link to a folder that is not there.
    symlinkSync(join(folder.path, 'nowhere', 'ballast'), file);
    expect(ballast.isTight()).toBe(false);
  });
});
