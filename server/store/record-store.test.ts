import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Collapse, endOfGroup, groupOf } from './record-store.ts';

/** The same in the words of the rule. */
function model(key: Buffer, { prefix, delimiter }: Collapse): Buffer | undefined {
  if (delimiter.length === 0 || !key.subarray(0, prefix.length).equals(prefix)) return undefined;
  const rest = key.subarray(prefix.length);
  const endOfPart = rest.indexOf(Buffer.from([0x00, 0xfe]));
  const at = rest.indexOf(delimiter);
  if (at === -1 || (endOfPart !== -1 && endOfPart < at)) return undefined;
  return key.subarray(0, prefix.length + at + delimiter.length);
}

const bytes = (maxLength: number) =>
  fc
    .array(fc.constantFrom(0x00, 0x2f, 0x61, 0xfe, 0xff), { maxLength })
    .map((list: readonly number[]) => Buffer.from(list));

describe('the group of a key', () => {
  it('is the key up to the first delimiter of the part that the prefix ends in', () => {
    fc.assert(
      fc.property(bytes(10), bytes(3), bytes(3), (key, prefix, delimiter) => {
        expect(groupOf(key, { prefix, delimiter })).toEqual(model(key, { prefix, delimiter }));
      }),
      { numRuns: 2000 },
    );
  });

  it('is found in the middle of other bytes, and never with what is after the key', () => {
    fc.assert(
      fc.property(bytes(3), bytes(6), bytes(3), bytes(2), bytes(2), (before, key, after, prefix, delimiter) => {
        const found = endOfGroup(Buffer.concat([before, key, after]), before.length, before.length + key.length, {
          prefix,
          delimiter,
        });
        expect(found === undefined ? undefined : found - before.length).toBe(model(key, { prefix, delimiter })?.length);
      }),
      { numRuns: 2000 },
    );
  });
});
