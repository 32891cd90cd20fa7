import { describe, expect, it } from 'vitest';
import { bytesPerSecond, fioArguments, writesOf } from './disk-speed.ts';

const [KiB, MiB] = [1_024, 2 ** 20];

describe('the writes of fio', () => {
  it.each([
    ['many small objects to a flush', 64 * 4 * KiB, 4, 64 * KiB, 1],
    ['less than a page to a flush', 1_000, 10, 4 * KiB, 1],
    ['no multiple of a page', 100_000, 10, 8 * KiB, 1],
    ['one large object to a flush', 8 * MiB, 1, MiB, 8],
    ['some large ones', 25 * MiB, 10, 872_448, 3],
    ['no flush', 2 * MiB, 0, MiB, 2],
  ])('have the bytes and the flushes of the load: %s', (_, bytes, flushes, size, perFlush) => {
    expect(writesOf({ bytes, flushes })).toEqual({ size, perFlush });
  });

  it('go to the folder, for the time of a round', () => {
    expect(fioArguments({ bytes: 8 * MiB, flushes: 1 }, '/data/disk', 2)).toEqual(
      expect.arrayContaining(['--directory=/data/disk', '--bs=1048576', '--fdatasync=8', '--runtime=2']),
    );
  });
});

describe('the report of fio', () => {
  it('has the rate', () => {
    expect(bytesPerSecond('note: slow\n{"jobs":[{"error":0,"write":{"bw_bytes":1000}}]}')).toBe(1_000);
  });

  it('is refused where fio failed', () => {
    expect(() => bytesPerSecond('{"jobs":[{"error":28,"write":{"bw_bytes":0}}]}')).toThrow('28');
  });
});
