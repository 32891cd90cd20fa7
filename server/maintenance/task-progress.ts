import { decodeRecord } from '../objects/records/record-format.ts';
import { within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { type LifecycleState, readLifecycleStates } from './lifecycle/lifecycle-rounds.ts';

/** The progress of a background task. Times are milliseconds since 1970. */
export type TaskProgress =
  | {
      readonly kind: 'walk';
      /** Buckets that it walks, and those of them that are done for the day. */
      readonly buckets: number;
      readonly done: number;
      /** `BUCKET/KEY`: the last key that is done in a bucket that is not. */
      readonly at?: string;
      /** Versions that the last walks removed or moved, and those that they could not. */
      readonly changed: number;
      readonly failed: number;
    }
  | {
      readonly kind: 'queue';
      readonly waiting: number;
      /** There are more than the count, which is bounded. */
      readonly more: boolean;
      /** The time since which the oldest of the counted waits. */
      readonly oldest?: number;
    };

/** The most records of a queue that are read for its count. */
export const MAX_COUNTED = 1_000;

/** Reads how far the lifecycle rules and the removals of bodies are, by task. */
export async function readTaskProgress(
  records: Pick<RecordStore, 'scan'>,
): Promise<Readonly<Record<string, TaskProgress>>> {
  const [lifecycle, removals, tierRemovals] = await Promise.all([
    readLifecycleStates(records),
    countQueue(records, 'x'),
    countQueue(records, 'tier-removal'),
  ]);
  return { lifecycle: lifecycleProgress(lifecycle), removals, 'tier-removals': tierRemovals };
}

function lifecycleProgress(states: ReadonlyMap<string, LifecycleState>): TaskProgress {
  const all = [...states];
  const today = Math.max(...all.map(([, { day }]) => day));
  const open = all.filter(([, { day, ended }]) => day < today || ended === undefined);
  const current = open.find(([, { ended, after }]) => ended === undefined && after !== undefined);
  const sum = (count: (state: LifecycleState) => number) => all.reduce((total, [, state]) => total + count(state), 0);
  return {
    kind: 'walk',
    buckets: all.length,
    done: all.length - open.length,
    ...(current === undefined ? {} : { at: `${current[0]}/${current[1].after}` }),
    changed: sum(({ expired, removed, aborted, transitioned = 0 }) => expired + removed + aborted + transitioned),
    failed: sum(({ failed }) => failed),
  };
}

async function countQueue(records: Pick<RecordStore, 'scan'>, table: 'x' | 'tier-removal'): Promise<TaskProgress> {
  let waiting = 0;
  let oldest = Infinity;
  for await (const item of records.scan(within(table))) {
    if (item.kind !== 'entry') continue;
    if (waiting === MAX_COUNTED) return { kind: 'queue', waiting, more: true, oldest };
    waiting += 1;
    oldest = Math.min(oldest, (decodeRecord(item.value, 'a removal') as { readonly queued: number }).queued);
  }
  return { kind: 'queue', waiting, more: false, ...(waiting === 0 ? {} : { oldest }) };
}
