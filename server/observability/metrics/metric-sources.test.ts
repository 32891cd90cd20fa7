import { describe, expect, it } from 'vitest';
import { openFileLimit, processFacts, processIo } from './metric-sources.ts';

const limits = (value: string) =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${value}   4096   files\n`;

describe('what a process uses', () => {
  it('is known of this one', async () => {
    const { cpuSeconds, residentBytes } = await processFacts();
    expect(cpuSeconds).toBeGreaterThan(0);
    expect(residentBytes).toBeGreaterThan(1_000_000);
  });
  it('is read from the limits of Linux, where there is one', () => {
    expect(openFileLimit(limits('1024'))).toBe(1024);
    expect(openFileLimit(limits('unlimited'))).toBeUndefined();
  });
  it('is read from the counters of Linux, whole or not at all', () => {
    const text = 'rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n';
    expect(processIo(text)).toEqual({ rchar: 1, wchar: 2, readBytes: 5, writeBytes: 6 });
    expect(processIo('rchar: 1\n')).toBeUndefined();
  });
});
