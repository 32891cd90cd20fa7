import { changeInTurn, type TurnBatch } from '../encryption/change-in-turn.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import { IdentityError } from './identity-error.ts';
import { identityKeys } from './identity-keys.ts';
import { IdentityView } from './identity-view.ts';

/** What a change puts and takes away; the head record comes to it. */
export type IdentityBatch = TurnBatch;

/** Looks at the records and says what is to be changed; may be asked again, when something else was changed meanwhile. */
export type Decide<T> = (view: IdentityView) => Promise<{ readonly batch: IdentityBatch; readonly result: T }>;

/** Makes one change at a time: see `createChange`. */
export type Change = <T>(decide: Decide<T>) => Promise<T>;

/** Changes take effect one after the other, on however many servers. */
export function createChange(records: SealedRecordStore, changed: () => void): Change {
  return async (decide) => {
    const done = await changeInTurn({
      records,
      head: identityKeys.head,
      decide: () => decide(new IdentityView(records)),
      tried: changed,
    });
    if (done === undefined) throw new IdentityError('busy', 'Identities are being changed by many at once; try again.');
    return done.result;
  };
}
