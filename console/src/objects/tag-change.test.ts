import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { tagSets } from '../../../test/support/s3-documents/bucket-settings.ts';
import { changedTags } from './tag-change.ts';

const sets = tagSets(6).map((tags) => Object.entries(tags).map(([name, value]) => ({ name, value })));

it('writes all tags as they are now where the user changed nothing', () => {
  fc.assert(
    fc.property(sets, sets, (shown, now) => {
      const written = changedTags(shown, shown, now);
      expect(new Set(written.map((tag) => JSON.stringify(tag)))).toEqual(
        new Set(now.map((tag) => JSON.stringify(tag))),
      );
    }),
  );
});

it('writes what the user made of the tags where another administrator changed nothing', () => {
  fc.assert(
    fc.property(sets, sets, (shown, edited) => {
      expect(changedTags(shown, edited, shown)).toEqual(edited);
    }),
  );
});

const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, value: `${name} of before` }));

it('keeps what another administrator added, and removes what the user removed', () => {
  if (a === undefined || b === undefined || c === undefined) throw new Error('three tags');
  expect(changedTags([a, b], [{ ...a, value: 'new' }], [a, b, c])).toEqual([{ ...a, value: 'new' }, c]);
  expect(changedTags([a, b], [a, b, c], [{ ...a, value: 'theirs' }])).toEqual([{ ...a, value: 'theirs' }, c]);
});

it('leaves a name that was given twice to the server, which refuses it', () => {
  expect(
    changedTags(
      [],
      [
        { name: 'x', value: '1' },
        { name: 'x', value: '2' },
      ],
      [],
    ),
  ).toHaveLength(2);
});
