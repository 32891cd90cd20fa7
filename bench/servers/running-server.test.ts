import { describe, expect, it } from 'vitest';
import { parseStat, ProcessTree } from './running-server.ts';

describe('the usage of processes', () => {
  it('is read after a command whose name has spaces and brackets', () => {
    const line = '42 (a (b) c) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 1 1 1';
    expect(parseStat(line)).toEqual({ parent: 7, cpuSeconds: 2 });
  });

  it('is unknown of a process that has ended', () => {
    expect(parseStat('')).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('covers the process itself', () => {
    const tree = new ProcessTree(process.pid);
    expect(tree.pids()).toContain(process.pid);
    expect(tree.peakBytes()).toBeGreaterThan(2 ** 20);
  });
});
