import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { droppedLogLines, LogOutput } from './log-output.ts';

/** A pipe with room for some bytes, which fails as the system does. */
function pipe(capacity: number) {
  let room = capacity;
  let text = '';
  let failure: string | undefined;
  return {
    /** The reader takes everything. */
    read() {
      const read = text;
      text = '';
      room = capacity;
      return read;
    },
    failWith(code: string | undefined) {
      failure = code;
    },
    write(bytes: Buffer): number {
      if (failure !== undefined) throw Object.assign(new Error(failure), { code: failure });
      if (room === 0) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' });
      const part = bytes.subarray(0, room);
      room -= part.length;
      text += part.toString();
      return part.length;
    },
  };
}

function outputTo(reader: ReturnType<typeof pipe>, maxBytes = 100): LogOutput {
  return new LogOutput({
    write: (bytes) => reader.write(bytes),
    droppedLine: (count) => `${count} missing\n`,
    maxBytes,
  });
}

function readSlowly(reader: ReturnType<typeof pipe>): string {
  let read = reader.read();
  for (let turn = 0; turn < 10; turn += 1) {
    vi.advanceTimersByTime(1000);
    read += reader.read();
  }
  return read;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the output of a log', () => {
  it('counts the lines that it drops, each once', () => {
    const before = droppedLogLines();
    const reader = pipe(5);
    const output = outputTo(reader, 12);
    for (let line = 0; line < 10; line += 1) output.write(`line${line}\n`);
    // The first line is on its way, and the ring has two.
    expect(droppedLogLines() - before).toBe(7);
    reader.read();
    // The line that says how many are missing is on its way, and no line of the log.
    vi.advanceTimersByTime(1000);
    reader.failWith('EPIPE');
    output.write('last\n');
    expect(droppedLogLines() - before).toBe(10);
  });

  it('writes a line at once', () => {
    const reader = pipe(100);
    outputTo(reader).write('one\n');
    expect(reader.read()).toBe('one\n');
  });

  it('keeps lines while the reader does not read, and writes them later, without a further line', () => {
    const reader = pipe(6);
    const output = outputTo(reader);
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
    expect(readSlowly(reader)).toBe('one\ntwo\nthree\n');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('drops the oldest lines, and says how many at their place; a line that has begun is completed', () => {
    const reader = pipe(6);
    const output = outputTo(reader, 12);
    for (const line of ['one\n', 'two\n', ...Array.from({ length: 10 }, (_, n) => `line${n}\n`)]) output.write(line);
    expect(readSlowly(reader)).toBe('one\ntwo\n8 missing\nline8\nline9\n');
  });

  it.each(['EPIPE', 'ENOSPC', 'EIO'])('counts the lines that fail with %s', (code) => {
    const reader = pipe(1000);
    const output = outputTo(reader);
    reader.failWith(code);
    output.write('one\n');
    output.write('two\n');
    reader.failWith(undefined);
    output.write('three\n');
    expect(reader.read()).toBe('2 missing\nthree\n');
  });

  it('counts the lines again whose count was lost', () => {
    const reader = pipe(1000);
    const output = outputTo(reader);
    for (const code of ['ENOSPC', 'ENOSPC']) {
      reader.failWith(code);
      output.write('lost\n');
    }
    reader.failWith('EAGAIN');
    output.write('lost\n');
    reader.failWith('ENOSPC');
    output.write('lost\n');
    reader.failWith(undefined);
    output.write('last\n');
    expect(reader.read()).toBe('4 missing\nlast\n');
  });
});
