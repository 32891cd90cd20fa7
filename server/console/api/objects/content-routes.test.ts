import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attachment, fileNameOf } from './content-routes.ts';

describe('attachment', () => {
  it('is one header value of printable ASCII that gives every name back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const value = attachment(name);
        expect(value).toMatch(/^attachment; filename="[ !#$&-[\]-~]*"; filename\*=UTF-8''[\w!#$&+.^`|~%-]*$/);
        // In the name itself they are escaped, in its plain form they are not.
        expect(decodeURIComponent(value.slice(value.lastIndexOf("''") + 2))).toBe(name.toWellFormed());
      }),
      { examples: [["''"]] },
    );
  });
});

describe('fileNameOf', () => {
  it.each([
    ['a/b/c.txt', 'c.txt'],
    ['a/b/', 'b'],
    ['///', 'download'],
  ])('of %s is %s', (key, name) => {
    expect(fileNameOf(key)).toBe(name);
  });
});
