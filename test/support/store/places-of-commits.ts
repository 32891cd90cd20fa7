import { afterAll, beforeAll } from 'vitest';
import { commitChannel } from '../../../server/store/commit-channel.ts';
import type { Places } from '../../../server/store/memory/record-store.ts';
import { crossingsOf } from '../../../server/store/places.ts';
import type { Batch } from '../../../server/store/record-store.ts';
import { noteCrossing } from './crossings.ts';

let places: Places = 'checked';

commitChannel.subscribe((message) => {
  if (places === 'unchecked') return;
  try {
    crossingsOf(message as Batch, { idsMadeBefore: places === 'with-ids-made-before' });
  } catch (error) {
    noteCrossing(error as Error);
  }
});

/** Says it for all tests of this file, or of this block, that commit to LMDB or PostgreSQL in the process of the test. */
export function commitsHavePlaces(of: Places): void {
  let before = places;
  beforeAll(() => {
    before = places;
    places = of;
  });
  afterAll(() => {
    places = before;
  });
}
