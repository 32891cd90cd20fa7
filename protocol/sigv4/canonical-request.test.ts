import { describe, expect, it } from 'vitest';
import { canonicalHeaders } from './canonical-request.ts';

describe('canonical headers', () => {
  it('trims values and makes runs of spaces and tabs one space', () => {
    expect(canonicalHeaders({ 'x-amz-meta-a': ' \t a \t  b ' }, ['x-amz-meta-a'])).toBe('x-amz-meta-a:a b\n');
  });

  it('joins repeated values, each trimmed', () => {
    expect(canonicalHeaders({ 'x-amz-meta-a': ['a ', ' b'] }, ['x-amz-meta-a'])).toBe('x-amz-meta-a:a,b\n');
  });

  // The second byte of a UTF-8 "à" is A0, which is a no-break space as a character of its own.
  it('leaves bytes alone that are white space only as characters', () => {
    const bytes = Buffer.from('voilà').toString('latin1');
    expect(canonicalHeaders({ 'x-amz-meta-a': bytes }, ['x-amz-meta-a'])).toBe(`x-amz-meta-a:${bytes}\n`);
  });
});
