import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitOnce } from '../store/commit-once.ts';
import type { Key } from '../store/record-store.ts';
import type { SealedRecordStore } from './sealed-records.ts';

/** What a change puts, as JSON, and takes away. */
export interface TurnBatch {
  readonly put?: readonly { readonly key: Key; readonly value: object }[];
  readonly delete?: readonly Key[];
}

const ATTEMPTS = 30;

/**
 * One change of what lies under a head record, after every other one, on however many servers: each expects the head as it was when
 * it began to look, and writes it again. For what is changed rarely beside requests; no two changes can contradict each other.
 *
 * `decide` is told the head's revision, looks at the records and may be asked again, when something else was changed meanwhile; what
 * it throws ends the change. `tried` is called after each attempt, whatever came of it. Undefined when others were first too often.
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
