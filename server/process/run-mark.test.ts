import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunMark } from './run-mark.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-run-mark-'));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

describe('the mark of a running server', () => {
  it('counts the servers that ended without a stop', () => {
    for (const crashes of [0, 1, 2]) {
      const mark = new RunMark(folder);
      expect(mark.crashes).toBe(crashes);
      mark.begin();
    }
  });

  it.each<[string, (mark: RunMark) => void]>([
    ['stopped', (mark) => mark.end()],
    ['ran for ten minutes', () => vi.advanceTimersByTime(600_000)],
  ])('counts none before a server that %s', (_what, ends) => {
    new RunMark(folder).begin();
    const mark = new RunMark(folder);
    mark.begin();
    ends(mark);
    expect(new RunMark(folder).crashes).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not count a server that said why it did not start', () => {
    new RunMark(folder).begin();
    for (let start = 0; start < 3; start += 1) {
      const mark = new RunMark(folder);
      mark.begin();
      mark.withdraw();
    }
    expect(new RunMark(folder).crashes).toBe(1);
  });

  it('is no condition of a start', () => {
    writeFileSync(join(folder, 'running.json'), 'half');
    const mark = new RunMark(folder);
    expect(mark.crashes).toBe(0);
    const nowhere = new RunMark(join(folder, 'nowhere'));
    nowhere.begin();
    nowhere.end();
  });
});
