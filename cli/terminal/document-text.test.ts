import { expect, it } from 'vitest';
import { documentText } from './document-text.ts';

it('has a line for each value, and those of inner documents below their names', () => {
  const job = {
    jobID: 'j1',
    complete: false,
    expired: { objects: 3, failed: 0 },
    sites: [
      { name: 'a', n: 1 },
      { name: 'b', n: 2 },
    ],
  };
  expect(documentText(job)).toBe(
    [
      'jobID:    j1',
      'complete: false',
      'expired:',
      '  objects: 3',
      '  failed:  0',
      'sites:',
      '  - name: a',
      '    n:    1',
      '  - name: b',
      '    n:    2',
    ].join('\n'),
  );
});

it('joins plain values, and leaves out empty ones', () => {
  expect(documentText({ names: ['a', 'b'], none: null, text: '', inner: { more: {} }, list: [] })).toBe('names: a, b');
  expect(documentText([])).toBe('');
});

it('escapes what would control the terminal', () => {
  expect(documentText({ '\u001B[2J': '\u009B31m' })).toBe(String.raw`\x1b[2J: \x9b31m`);
});
