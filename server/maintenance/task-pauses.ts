import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce } from '../store/commits.ts';
import { decodeKey, key, within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';

/**
 * Background tasks that an administrator may pause: those that read or write much, and whose work can wait for a day. A round that is
 * broken off goes on where it was.
 */
export const pausableTasks = [
  'scrub',
  'lifecycle',
  'usage',
  'orphans',
  'segments',
  'pack',
  'batch',
  'inventory',
] as const;

export type PausableTask = (typeof pausableTasks)[number];

/** Milliseconds for which a pause may last. It ends by itself, so that no task stays paused by mistake. */
export const maxPauseMs = 86_400_000;

/** Pauses of background tasks of all servers over the same stores. */
export interface TaskPauses {
  /** Returns the ends of the pauses that are in force, in milliseconds since 1970. */
  all(): Promise<Readonly<Partial<Record<PausableTask, number>>>>;
  pause(task: PausableTask, forMs: number): Promise<void>;
  resume(task: PausableTask): Promise<void>;
}

const pauseKey = (task: string) => key('system', 'pause', task);

export function taskPauses(
  records: RecordStore,
  { clock = Date.now, random }: { readonly clock?: () => number; readonly random: (size: number) => Buffer },
): TaskPauses {
  return {
    async all() {
      const found: Partial<Record<PausableTask, number>> = {};
      for await (const item of records.scan(within('system', 'pause'))) {
        if (item.kind !== 'entry') continue;
        const task = pausableTasks.find((one) => one === String(decodeKey(item.key)[2]));
        const { until } = decodeRecord(item.value, 'a pause') as { readonly until: number };
        if (task !== undefined && until > clock()) found[task] = until;
      }
      return found;
    },
    async pause(task, forMs) {
      const until = clock() + Math.min(forMs, maxPauseMs);
      await commitOnce(records, { put: [{ key: pauseKey(task), value: encodeRecord({ until }) }] }, random);
    },
    async resume(task) {
      await commitOnce(records, { delete: [pauseKey(task)] }, random);
    },
  };
}

/** Reports whether a task is paused. A task that cannot be paused costs no read. */
export async function isPaused(records: Pick<RecordStore, 'get'>, task: string, now: number): Promise<boolean> {
  if (!pausableTasks.some((one) => one === task)) return false;
  const entry = await records.get(pauseKey(task));
  return entry !== undefined && (decodeRecord(entry.value, 'a pause') as { readonly until: number }).until > now;
}

/** Milliseconds between looks for a pause during a round. */
const watchMs = 2_000;

/** Watches for a pause during a round of a task. The signal aborts the round, which goes on where it was when the pause ends. */
export function watchPause(
  records: Pick<RecordStore, 'get'>,
  task: string,
): { readonly signal: AbortSignal; end(): void } {
  const pausing = new AbortController();
  const look = async () => {
    if (await isPaused(records, task, Date.now()).catch(() => false)) pausing.abort(new Error(`${task} is paused`));
  };
  const timer = pausableTasks.some((one) => one === task) ? setInterval(() => void look(), watchMs).unref() : undefined;
  return { signal: pausing.signal, end: () => clearInterval(timer) };
}
