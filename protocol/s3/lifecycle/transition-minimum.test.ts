import { describe, expect, it } from 'vitest';
import type { LifecycleRule } from './bucket-lifecycle.ts';
import { parseLifecycleCopy, transitionMinimumOf, writeLifecycleCopy } from './transition-minimum.ts';

const rule: LifecycleRule = { id: 'a', enabled: true, filter: { prefix: 'a/' }, expiration: { days: 7 } };
const moving: LifecycleRule = { ...rule, id: 'b', expiration: { days: 9 }, transition: { days: 1, tier: 'WARM' } };
const large = { largeOnly: true } as const;

describe('a copy of lifecycle rules', () => {
  it.each([
    ['every size', [rule, moving]],
    [
      'large objects',
      [
        { ...rule, ...large },
        { ...moving, ...large },
      ],
    ],
  ])('keeps which objects move: %s', (_sizes, rules) => {
    expect(parseLifecycleCopy(writeLifecycleCopy(rules))).toEqual(rules);
  });

  it('has every size without an instruction, as other programs write it', () => {
    const document = writeLifecycleCopy([{ ...rule, ...large }]).replace(/<\?x-amz[^>]*>/, '');
    expect(parseLifecycleCopy(Buffer.from(document))).toEqual([rule]);
  });

  it('is refused with an unknown smallest object', () => {
    const document = writeLifecycleCopy([{ ...rule, ...large }]).replace('128K', '1K');
    expect(() => parseLifecycleCopy(document)).toThrow('The minimum size of transitions is');
  });
});

describe('the smallest object of transitions', () => {
  it('is that of the rules that move objects, if there are some', () => {
    expect(transitionMinimumOf([{ ...rule, ...large }, moving])).toBe('varies_by_storage_class');
    expect(transitionMinimumOf([rule, { ...moving, ...large }])).toBe('all_storage_classes_128K');
    expect(transitionMinimumOf([{ ...rule, ...large }])).toBe('all_storage_classes_128K');
  });
});
