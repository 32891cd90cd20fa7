import { array, assert, boolean, property, string, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBuffer } from './line-buffer.ts';

const textOf = (buffer: LineBuffer) => buffer.toBytes().toString('latin1');

describe('a buffer of lines', () => {
  it('has all lines in their order, also of lines that are longer than a chunk', () => {
    const lines = Array.from({ length: 300 }, (_, at) => `${at} ${'x'.repeat((at * 7_919) % 40_000)}\n`);
    const buffer = new LineBuffer();
    for (const line of lines) buffer.append(line);
    expect(buffer.size).toBe(lines.join('').length);
    expect(textOf(buffer) === lines.join('')).toBe(true);
  });

  it('keeps what was added before and after it was read, and after it got those of another', () => {
    const ascii = string({ unit: 'grapheme-ascii' });
    assert(
      property(array(tuple(ascii, boolean())), array(ascii), (first, second) => {
        const [one, other] = [new LineBuffer(), new LineBuffer()];
        for (const [line, reads] of first) {
          one.append(line);
          if (reads) one.toBytes();
        }
        for (const line of second) other.append(line);
        one.appendAll(other);
        one.append('end');
        const all = [...first.map(([line]) => line), ...second, 'end'].join('');
        expect([textOf(one), one.size]).toEqual([all, all.length]);
      }),
    );
  });
});
