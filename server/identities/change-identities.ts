import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SealedRecordStore } from '../encryption/sealed-record-store.ts';
import { commitOnce } from '../store/commit-once.ts';
import type { Key } from '../store/record-store.ts';
import { IdentityError } from './identity-error.ts';
import { identityKeys } from './identity-keys.ts';
import { IdentityView } from './identity-view.ts';

/** What a change puts and takes away; the head record comes to it. */
export interface IdentityBatch {
  readonly put?: readonly { readonly key: Key; readonly value: object }[];
  readonly delete?: readonly Key[];
}

/** Looks at the records and says what is to be changed; may be asked again, when something else was changed meanwhile. */
export type Decide<T> = (view: IdentityView) => Promise<{ readonly batch: IdentityBatch; readonly result: T }>;

/** Makes one change at a time: see `createChange`. */
export type Change = <T>(decide: Decide<T>) => Promise<T>;

const attempts = 30;

/**
 * Changes take effect one after the other, on however many servers: each expects the head as it was when it began to look. They are
 * rare beside requests, so that one queue for all of them costs nothing, and no two of them can contradict each other.
 */
export function createChange(records: SealedRecordStore, changed: () => void): Change {
  return async (decide) => {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const head = await records.revision(identityKeys.head);
      const { batch, result } = await decide(new IdentityView(records));
      const expect =
        head === undefined
          ? { kind: 'absent' as const, key: identityKeys.head }
          : { kind: 'revision' as const, key: identityKeys.head, revision: head };
      const put = [...(batch.put ?? []), { key: identityKeys.head, value: { format: 1 } }];
      const settled = await commitOnce(
        records,
        {
          expect: [expect],
          put: put.map(({ key, value }) => ({ key, value: Buffer.from(JSON.stringify(value)) })),
          ...(batch.delete === undefined ? {} : { delete: batch.delete }),
        },
        randomBytes,
      );
      changed();
      if (settled.kind === 'committed') return result;
      await sleep(randomInt(1, 5 * attempt + 2));
    }
    throw new IdentityError('busy', 'Identities are being changed by many at once; try again.');
  };
}
