import { describe, expect, it } from 'vitest';
import { isTemporaryName, temporaryName, temporaryPrefix } from './temporary-files.ts';

describe('the name of an incomplete download', () => {
  it.each(['a', '.hidden', 'ü.txt', 'x'.repeat(255), 'é'.repeat(127)])('is known as such for %s', (name) => {
    const temporary = temporaryName(name, 'source');
    expect(isTemporaryName(temporary)).toBe(true);
    expect(temporary.startsWith(temporaryPrefix(name))).toBe(true);
    expect(Buffer.byteLength(temporary)).toBeLessThanOrEqual(255);
  });

  it('is that of its source', () => {
    expect(temporaryName('a', 'one')).toBe(temporaryName('a', 'one'));
    expect(temporaryName('a', 'one')).not.toBe(temporaryName('a', 'two'));
  });

  it.each(['a', 'a.part.coffer', '.a.part.coffer', '.a.0123456789abcdef.part', 'a.0123456789abcdef.part.coffer'])(
    'is not %s',
    (name) => expect(isTemporaryName(name)).toBe(false),
  );
});
