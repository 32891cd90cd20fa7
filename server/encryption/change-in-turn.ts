import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitOnce } from '../store/commits.ts';
import type { Key } from '../store/record-store.ts';
import type { SealedRecordStore } from './sealed-records.ts';

/** The records that a change writes, as JSON, and deletes. */
export interface TurnBatch {
  readonly put?: readonly { readonly key: Key; readonly value: object }[];
  readonly delete?: readonly Key[];
}

const ATTEMPTS = 30;

/**
 * Makes one change to the records under a head record. Changes of all servers are serialized: each expects the revision of the head
 * that it read first, and writes the head again, so no two changes can contradict each other. It is for rare changes.
 *
 * `decide` gets the revision of the head and reads the records. It is called again if another change was first; what it throws ends the
 * change. `tried` is called after each attempt. Returns undefined if other changes were first in every attempt.
 */
export async function changeInTurn<T>(options: {
  readonly records: SealedRecordStore;
  readonly head: Key;
  readonly decide: (revision: number | undefined) => Promise<{ readonly batch: TurnBatch; readonly result: T }>;
  readonly tried?: () => void;
}): Promise<{ readonly result: T } | undefined> {
  const { records, head, decide, tried } = options;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const revision = await records.revision(head);
    const { batch, result } = await decide(revision);
    const put = [...(batch.put ?? []), { key: head, value: { format: 1 } }];
    const settled = await commitOnce(
      records,
      {
        expect: [revision === undefined ? { kind: 'absent', key: head } : { kind: 'revision', key: head, revision }],
        put: put.map(({ key, value }) => ({ key, value: Buffer.from(JSON.stringify(value)) })),
        ...(batch.delete === undefined ? {} : { delete: batch.delete }),
      },
      randomBytes,
    );
    tried?.();
    if (settled.kind === 'committed') return { result };
    await sleep(randomInt(1, 5 * attempt + 2));
  }
  return undefined;
}
