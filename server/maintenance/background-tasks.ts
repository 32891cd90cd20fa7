import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce } from '../store/commits.ts';
import { decodeKey, key, within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { backoffMs } from '../../platform/async/backoff.ts';
import { redactText } from '../../platform/output/redact-secrets.ts';

/** The state of a background task, as the server that ran it last reports it. Times are milliseconds since 1970. */
export interface BackgroundTask {
  readonly task: string;
  /** Absent where the task has never succeeded. */
  readonly lastSuccess?: number;
  /** Present while the task fails. */
  readonly failure?: {
    readonly since: number;
    readonly attempts: number;
    readonly error: string;
    readonly retryAt: number;
  };
}

/** Milliseconds. A success is recorded at most this often, unless it ends a failure: some tasks run every two seconds. */
const successInterval = 600_000;
/** The maximum of milliseconds between attempts of a task that fails. */
const maxBackoff = 600_000;
const maxErrorLength = 500;

interface TaskReportOptions {
  readonly records: RecordStore;
  readonly random: (size: number) => Buffer;
  readonly clock?: () => number;
}

/**
 * Runs background tasks and records the state of each, so that every server can show it. A task that fails is tried again with
 * exponential backoff; no task stops for good.
 */
export class TaskReport {
  readonly #options: TaskReportOptions;
  readonly #tasks = new Map<string, { state: BackgroundTask; written: number }>();

  constructor(options: TaskReportOptions) {
    this.#options = options;
  }

  /**
   * Runs `work`, unless the task failed less than its backoff ago. The backoff begins with `retryMs` and doubles with each failure.
   * Rejects with the error of `work`. `isExpected` selects errors that are not failures, such as a lease that another server took over.
   * `maxRetryMs` limits the backoff.
   */
  async run(
    task: string,
    retryMs: number,
    work: () => Promise<void>,
    isExpected: (error: unknown) => boolean = () => false,
    maxRetryMs = maxBackoff,
  ): Promise<void> {
    const now = this.#options.clock ?? Date.now;
    const before = this.#tasks.get(task) ?? (await this.#before(task));
    const failure = before?.state.failure;
    if (failure !== undefined && now() < failure.retryAt) return;
    try {
      await work();
    } catch (error) {
      if (!isExpected(error)) {
        const attempts = (failure?.attempts ?? 0) + 1;
        await this.#write({
          ...(before?.state ?? { task }),
          failure: {
            since: failure?.since ?? now(),
            attempts,
            // Libraries repeat addresses, which may have passwords.
            error: redactText(error instanceof Error ? error.message : String(error)).slice(0, maxErrorLength),
            retryAt: now() + backoffMs(attempts, { firstMs: retryMs, maxMs: Math.max(maxRetryMs, retryMs), jitter: 0 }),
          },
        });
      }
      throw error;
    }
    const due = before === undefined || failure !== undefined || now() - before.written >= successInterval;
    if (due) await this.#write({ task, lastSuccess: now() });
    else before.state = { task, lastSuccess: now() };
  }

  /** Reads the state that the previous server recorded. The task is tried at once: a restart often cures it. */
  async #before(task: string): Promise<{ state: BackgroundTask; written: number } | undefined> {
    const entry = await this.#options.records.get(key('background', task)).catch(() => undefined);
    if (entry === undefined) return undefined;
    const { failure, ...state } = decodeRecord(entry.value, `background task ${task}`) as BackgroundTask;
    return { state: { ...state, ...(failure && { failure: { ...failure, retryAt: 0 } }) }, written: -Infinity };
  }

  /** Keeps the state in memory where the records cannot be written: the server reports the missing records by itself. */
  async #write(state: BackgroundTask): Promise<void> {
    const { records, random, clock = Date.now } = this.#options;
    this.#tasks.set(state.task, { state, written: clock() });
    const put = [{ key: key('background', state.task), value: encodeRecord(state) }];
    await commitOnce(records, { put }, random).catch(() => undefined);
  }
}

/** Returns the tasks of the last day, ordered by name. A task that was turned off is not reported after a day. */
export async function readBackgroundTasks(
  records: RecordStore,
  clock: () => number = Date.now,
): Promise<readonly BackgroundTask[]> {
  const since = clock() - 86_400_000;
  const tasks: BackgroundTask[] = [];
  for await (const item of records.scan(within('background'))) {
    if (item.kind !== 'entry') continue;
    const state = decodeRecord(item.value, `background task ${String(decodeKey(item.key)[1])}`) as BackgroundTask;
    if (Math.max(state.lastSuccess ?? 0, state.failure?.retryAt ?? 0) >= since) tasks.push(state);
  }
  return tasks;
}

/** Returns the names of the failing tasks, some seconds old: a probe never waits for the records, and reads them seldom. */
export function failingTasks(
  read: () => Promise<readonly BackgroundTask[]>,
  { everyMs = 5_000, clock = Date.now }: { readonly everyMs?: number; readonly clock?: () => number } = {},
): () => readonly string[] {
  let names: readonly string[] = [];
  let readAt = -Infinity;
  const refresh = async () => {
    try {
      names = (await read()).filter(({ failure }) => failure !== undefined).map(({ task }) => task);
    } catch {
      // The probe itself reports that the records are away.
    }
  };
  return () => {
    if (clock() - readAt >= everyMs) {
      readAt = clock();
      void refresh();
    }
    return names;
  };
}
