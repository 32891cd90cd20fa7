import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './response.ts';

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut into chunks', () => {
    const lines = fc.array(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((line) => line.trim() !== '' && !line.includes('\n')),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(lines, fc.array(fc.nat(40)), (wanted, cuts) => {
        const bytes = new TextEncoder().encode(wanted.map((line) => `${line}\n`).join(''));
        const splitter = new LineSplitter();
        const got: string[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          got.push(...splitter.push(bytes.subarray(at, at + cut)));
          at += cut;
        }
        expect(got).toEqual(wanted);
      }),
    );
  });

  it('keeps a line that has no end yet', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(new TextEncoder().encode('{"type":"ADD'))).toEqual([]);
    expect(splitter.rest()).toBe('{"type":"ADD');
  });
});
