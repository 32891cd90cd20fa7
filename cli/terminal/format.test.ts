import { describe, expect, it } from 'vitest';
import { textFields, textTable } from './format.ts';

describe('a table', () => {
  it('has columns as wide as what is in them, and no spaces at the end of lines', () => {
    expect(
      textTable(
        ['A', 'LONGER', 'C'],
        [
          ['first', 'x', ''],
          ['y', 'second', 'z'],
        ],
      ),
    ).toBe(['A      LONGER  C', 'first  x', 'y      second  z'].join('\n'));
  });

  it('counts characters, not bytes', () => {
    expect(
      textTable(
        ['N', 'V'],
        [
          ['ü🔑', '1'],
          ['abc', '2'],
        ],
      ),
    ).toBe(['N    V', 'ü🔑   1', 'abc  2'].join('\n'));
  });

  it('lets nothing in it command the terminal', () => {
    expect(textTable(['N'], [['\u001b[2Jx']])).toBe('N\n\\x1b[2Jx');
  });
});

describe('fields', () => {
  it('stand under each other, without those that have no value', () => {
    expect(textFields({ Name: 'a', Description: 'b', Policy: undefined })).toBe('Name:        a\nDescription: b');
  });
});

describe('a table that is wider than the terminal', () => {
  it('becomes a block of lines for each row', () => {
    const rows = [
      ['ann', 'readwrite, diagnostics'],
      ['bob', ''],
    ];
    expect(textTable(['USER', 'POLICIES'], rows, 40)).toContain('USER  POLICIES');
    expect(textTable(['USER', 'POLICIES'], rows, 20)).toBe(
      'USER:     ann\nPOLICIES: readwrite, diagnostics\n\nUSER:     bob\nPOLICIES:',
    );
  });
});
