import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger, type LogLevel } from './logger.ts';
import { RepeatedLines } from './repeated-lines.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function openLog(level: LogLevel = 'info') {
  const written: string[] = [];
  const stream = { write: (line: string) => void written.push(line) };
  const lines = new RepeatedLines(createLogger({ name: 'test', level, stream }));
  const read = () => written.splice(0).map((line) => JSON.parse(line) as { msg: string; count?: number });
  return { lines, read };
}

const away = (ms = 1) => ({ err: new Error(`no answer within ${ms} ms`) });

describe('lines that repeat', () => {
  it('writes five of a kind, and then their number', () => {
    const { lines, read } = openLog();
    for (let ms = 1; ms <= 1000; ms += 1) lines.write('error', away(ms), 'request failed: ServiceUnavailable');
    expect(read()).toHaveLength(5);
    vi.advanceTimersByTime(10_000);
    expect(read()).toMatchObject([
      { msg: 'request failed: ServiceUnavailable: 995 more lines within 10 s were left out', count: 995 },
    ]);
  });

  it('says nothing more of a kind whose lines are all there', () => {
    const { lines, read } = openLog();
    lines.write('warn', away(), 'a call failed');
    expect(read()).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    expect(read()).toEqual([]);
  });

  it('writes them again after the interval', () => {
    const { lines, read } = openLog();
    for (let line = 0; line < 6; line += 1) lines.write('error', away(), 'a call failed');
    vi.advanceTimersByTime(10_000);
    read();
    lines.write('error', away(), 'a call failed');
    expect(read()).toMatchObject([{ msg: 'a call failed' }]);
  });

  it('writes another failure beside one that repeats', () => {
    const { lines, read } = openLog();
    for (let line = 0; line < 100; line += 1) lines.write('error', away(), 'a call failed');
    read();
    lines.write('error', { err: new TypeError('a defect') }, 'a call failed');
    expect(read()).toHaveLength(1);
  });

  it('bounds the number of kinds', () => {
    const { lines, read } = openLog();
    for (let kind = 0; kind < 1000; kind += 1) {
      lines.write('error', { err: new Error('x'.repeat(kind % 250)) }, 'a call failed');
      lines.write('error', { err: new Error('y'.repeat(kind % 250)) }, 'a call failed');
    }
    expect(read().length).toBeLessThanOrEqual(21 * 5);
    vi.advanceTimersByTime(10_000);
    expect(read().reduce((sum, { count = 0 }) => sum + count, 0)).toBeGreaterThan(2000 - 21 * 5 - 1);
  });

  it('writes every line with the level debug', () => {
    const { lines, read } = openLog('debug');
    for (let line = 0; line < 100; line += 1) lines.write('error', away(), 'a call failed');
    expect(read()).toHaveLength(100);
  });
});
