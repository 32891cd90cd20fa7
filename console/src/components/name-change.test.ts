import { assert, constantFrom, property, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameChange } from './name-change.ts';

const names = uniqueArray(constantFrom('a', 'b', 'c', 'd', 'e', 'f'));

describe('the change of a list of names', () => {
  it('is none where no name was added or removed', () => {
    assert(
      property(names, (list) => {
        expect(nameChange(list, list.toReversed())).toBeUndefined();
      }),
    );
  });

  it('turns the list that was seen into the list that is wanted', () => {
    assert(
      property(names, names, (before, after) => {
        const { add, remove } = nameChange(before, after) ?? { add: [], remove: [] };
        const changed = [...before.filter((name) => !remove.includes(name)), ...add];
        expect(changed.toSorted()).toEqual(after.toSorted());
      }),
    );
  });
});
