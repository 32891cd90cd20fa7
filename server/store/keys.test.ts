import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  after,
  decodeKey,
  decodePrefix,
  endOf,
  escape,
  key,
  KEY_LIMIT,
  type KeyPart,
  partialPrefix,
  prefixOf,
  textAt,
  within,
} from './keys.ts';

// Bytes around the escape's own, and text of every plane, far more often than chance would give.
const bytes = fc
  .array(fc.oneof(fc.constantFrom(0x00, 0x01, 0xfd, 0xfe, 0xff), fc.nat(255)), { maxLength: 6 })
  .map((list) => Buffer.from(list));
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\0', '\u0001', '!', '/', 'a', '\uffff', '🜚'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 6,
});
const part: fc.Arbitrary<KeyPart> = fc.oneof(bytes, text);
const tuple = fc.array(part, { maxLength: 4 });

function bytesOf(part: KeyPart): Buffer {
  return Buffer.from(part as string);
}

function compareTuples(left: readonly KeyPart[], right: readonly KeyPart[]): number {
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = bytesOf(part).compare(bytesOf(other));
    if (order !== 0) return order;
  }
  return left.length === right.length ? 0 : -1;
}

function inRange(bytes: Buffer, range: { start: Buffer; end: Buffer }): boolean {
  return bytes.compare(range.start) >= 0 && bytes.compare(range.end) < 0;
}

describe('keys', () => {
  it('sort as their tuples do, part by part, by bytes', () => {
    fc.assert(
      fc.property(tuple, tuple, (left, right) => key(...left).compare(key(...right)) === compareTuples(left, right)),
      { numRuns: 2000 },
    );
  });

  it('decode to the parts they were made of', () => {
    fc.assert(
      fc.property(tuple, (parts) => {
        expect(decodeKey(key(...parts))).toEqual(parts.map(bytesOf));
      }),
    );
  });

  it('keep `a!` out of the versions of `a`', () => {
    const versions = within('v', 'bucket', 'a');
    expect(inRange(key('v', 'bucket', 'a', Buffer.of(0xff, 0xff)), versions)).toBe(true);
    expect(inRange(key('v', 'bucket', 'a!'), versions)).toBe(false);
    expect(inRange(key('v', 'bucket', 'a\0'), versions)).toBe(false);
  });

  it('put into a range exactly the keys whose first parts are the given ones', () => {
    fc.assert(
      fc.property(tuple, tuple, (prefix, parts) => {
        const begins = prefix.every((part, index) => {
          const other = parts[index];
          return other !== undefined && bytesOf(part).equals(bytesOf(other));
        });
        return inRange(key(...parts), within(...prefix)) === begins;
      }),
      { numRuns: 2000 },
    );
  });

  it('put into a partial prefix exactly the keys whose last given part begins so', () => {
    fc.assert(
      fc.property(part, part, part, part, (first, start, other, next) => {
        const prefix = partialPrefix(first, start);
        const begins =
          bytesOf(first).equals(bytesOf(other)) &&
          bytesOf(next).subarray(0, bytesOf(start).length).equals(bytesOf(start));
        const range = { start: prefix, end: endOf(prefix) };
        return (
          inRange(key(other, next), range) === begins &&
          inRange(key(first, Buffer.concat([bytesOf(start), bytesOf(next)]), 'x'), range)
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('have nothing between a key and what comes after it', () => {
    fc.assert(
      fc.property(tuple, tuple, (parts, others) => {
        const one = key(...parts);
        const other = key(...others);
        return other.compare(one) > 0 === other.compare(after(one)) >= 0;
      }),
    );
  });

  it('have an end even where a prefix is nothing but FF', () => {
    const longest = Buffer.alloc(KEY_LIMIT, 0xff);
    expect(longest.compare(endOf(Buffer.of(0xff, 0xff)))).toBe(-1);
    expect(longest.compare(endOf(Buffer.alloc(0)))).toBe(-1);
  });

  it('decode an unfinished last part', () => {
    fc.assert(
      fc.property(part, part, (first, last) => {
        expect(decodePrefix(partialPrefix(first, last))).toEqual([bytesOf(first), bytesOf(last)]);
      }),
    );
  });

  it('never show a text delimiter across the end of a part', () => {
    fc.assert(
      fc.property(part, part, fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }), (first, second, delimiter) => {
        const end = prefixOf(first).length;
        const found = key(first, second).indexOf(escape(delimiter), Math.max(0, end - 3));
        return found === -1 || found >= end || found + escape(delimiter).length <= end - 2;
      }),
    );
  });

  it('refuse half a surrogate pair, which UTF-8 cannot tell from another', () => {
    expect(() => key('a', '\ud83d')).toThrow(expect.objectContaining({ code: 'invalid-key' }));
  });

  it.each(['00', '0001', '6100', '61'])('refuse to decode %s, which no tuple has', (hex) => {
    expect(() => decodeKey(Buffer.from(hex, 'hex'))).toThrow(expect.objectContaining({ code: 'invalid-key' }));
  });

  it('give the text of one part alone, where it begins being known', () => {
    fc.assert(
      fc.property(text, text, fc.array(part, { maxLength: 2 }), (first, second, rest) => {
        fc.pre(
          first.isWellFormed() &&
            second.isWellFormed() &&
            rest.every((each) => typeof each !== 'string' || each.isWellFormed()),
        );
        expect(textAt(key(first, second, ...rest), key(first).length)).toBe(second);
      }),
    );
  });
});
