import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeReturnPath } from './return-path.ts';

describe('safeReturnPath', () => {
  it('never leaves the console, whatever is wanted', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      ':',
      '@',
      '?',
      '#',
      'evil.example',
      'https:',
      '\t',
      '\n',
      '%2f',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const here = 'https://console.example';
        expect(new URL(safeReturnPath(pieces.join('')), here).origin).toBe(here);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['/buckets/docs?prefix=a%2F#x', '/buckets/docs?prefix=a%2F#x'],
    ['/api/sign-in/X', '/'],
    ['/sign-in?to=/sign-in', '/'],
    [undefined, '/'],
  ])('turns %s into %s', (wanted, path) => {
    expect(safeReturnPath(wanted)).toBe(path);
  });
});
