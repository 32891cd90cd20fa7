import { setTimeout as sleep } from 'node:timers/promises';
import { type BucketList, type BucketQuestions, listedBuckets } from '../observability/metrics/bucket-list.ts';

/** Milliseconds between two reads of the list without a question: after this time the place of a removed bucket goes to another one. */
const intervalMs = 30_000;
/** Milliseconds between two reads at least. Questions come only while there are fewer buckets than the list may have. */
const minIntervalMs = 1_000;
/** Milliseconds that a stop waits for a read. */
const gracePeriodMs = 1_000;

interface BucketListWatchOptions {
  readonly buckets: () => Promise<Parameters<typeof listedBuckets>[0]>;
  readonly questions: Pick<BucketQuestions, 'last'>;
  readonly onList: (list: BucketList) => void;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Reads the list of the buckets whose requests are counted apart, again and again, and at once where a thread asks. While the records are
 * away there is no list; the threads keep the last one.
 */
export function watchBucketList({ buckets, questions, onList, pause = abortablePause }: BucketListWatchOptions): {
  ask(): void;
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  let asked = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      asked = new AbortController();
      const answers = questions.last();
      const names = await buckets().then(listedBuckets, () => undefined);
      if (names !== undefined && !stopping.signal.aborted) onList({ names, answers });
      await pause(minIntervalMs, stopping.signal);
      await pause(intervalMs, AbortSignal.any([asked.signal, stopping.signal]));
    }
  })();
  return {
    ask: () => asked.abort(),
    async stop() {
      stopping.abort();
      await Promise.race([watching, sleep(gracePeriodMs, undefined, { ref: false })]);
    },
  };
}

/** Resolves early when the signal aborts. */
async function abortablePause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
