import { describe, expect, it } from 'vitest';
import { columns, shortDuration, treeLines } from './print-status.ts';

describe('treeLines', () => {
  it('draws branches, and a stem beside what follows', () => {
    const tree = { text: 'a', children: [{ text: 'b', children: [{ text: 'c' }] }, { text: 'd' }] };
    expect(treeLines(tree)).toEqual(['a', '├─ b', '│  └─ c', '└─ d']);
  });
});

describe('columns', () => {
  it('makes every column as wide as its widest cell', () => {
    expect(
      columns([
        ['a', 'bb', 'c'],
        ['aaa', 'b', ''],
      ]),
    ).toEqual(['a    bb  c', 'aaa  b']);
  });
});

describe('shortDuration', () => {
  it.each([
    [3_000, '3s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [119 * 60_000, '119m'],
    [2 * 3_600_000, '2h'],
    [47 * 3_600_000, '47h'],
    [48 * 3_600_000, '2d'],
    [-5_000, '5s'],
  ])('%i ms are %s', (milliseconds, text) => {
    expect(shortDuration(milliseconds)).toBe(text);
  });
});
