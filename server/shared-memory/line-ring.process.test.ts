import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineRingMemory, openLineRing } from './line-ring.ts';

const ringOf = (bytes: number) => openLineRing(lineRingMemory(bytes));

describe('a ring of lines', () => {
  it('gives what was written after a place, and where to go on', () => {
    const ring = ringOf(1024);
    ring.append('before');
    const place = ring.newest();
    ring.append('one');
    ring.append('zwölf');
    const read = ring.read(place);
    expect(read).toMatchObject({ lines: ['one', 'zwölf'], dropped: 0 });
    expect(ring.read(read.next)).toMatchObject({ lines: [], dropped: 0 });
    expect(ring.read(ring.oldest()).lines).toEqual(['before', 'one', 'zwölf']);
  });

  it('forgets the oldest when it is full, and says how many a reader has missed', () => {
    const ring = ringOf(100);
    const start = ring.newest();
    for (let line = 0; line < 20; line += 1) ring.append(`line ${line}`);
    const { lines, dropped } = ring.read(start);
    expect(lines.at(-1)).toBe('line 19');
    expect(lines.length + dropped).toBe(20);
    expect(lines.length).toBeGreaterThan(5);
  });

  it('cuts a line that would take the place of all others', () => {
    const ring = ringOf(800);
    ring.append('x'.repeat(5_000));
    expect(ring.read(ring.oldest()).lines).toEqual(['x'.repeat(96)]);
  });

  it('holds the newest lines in their order, whatever was written', () => {
    const texts = fc.array(fc.string({ maxLength: 12, unit: 'binary' }), { maxLength: 60 });
    fc.assert(
      fc.property(texts, (given) => {
        const ring = ringOf(512);
        const start = ring.newest();
        for (const text of given) ring.append(text);
        const { lines, dropped } = ring.read(start);
        expect(lines).toEqual(given.slice(dropped).map((text) => Buffer.from(text).toString()));
      }),
    );
  });

  it('takes whole lines of several threads at once', async () => {
    const memory = lineRingMemory(64 * 1024);
    const code = `
      const { workerData } = require('node:worker_threads');
      import(workerData.module).then(({ openLineRing }) => {
        const ring = openLineRing(workerData.memory);
        for (let line = 0; line < 500; line += 1) ring.append(workerData.name + ' ' + line);
      });`;
    const module = new URL('line-ring.ts', import.meta.url).href;
    const writers = ['a', 'b', 'c'].map(
      (name) => new Worker(code, { eval: true, workerData: { memory, module, name } }),
    );
    await Promise.all(writers.map((writer) => once(writer, 'exit')));
    const { lines, dropped } = openLineRing(memory).read({ line: 0, position: 0 });
    expect([lines.length, dropped]).toEqual([1_500, 0]);
    for (const name of ['a', 'b', 'c']) {
      const own = lines.filter((line) => line.startsWith(name));
      expect(own).toEqual(Array.from({ length: 500 }, (_, line) => `${name} ${line}`));
    }
  });
});
