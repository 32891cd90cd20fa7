import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { decodeRecord } from '../objects/records/record-format.ts';
import { repeated } from '../cluster/repeated.ts';
import { within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { BackgroundTask } from '../maintenance/background-tasks.ts';
import { lockClock } from '../objects/contract/lock-clock.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

interface ClockWatchOptions {
  readonly records: Pick<RecordStore, 'scan'>;
  readonly log: Pick<StructuredLog, 'error'>;
  /** Milliseconds since 1970; `Date.now` by default. */
  readonly wall?: () => number;
  /** Milliseconds since any moment; those of the process by default. */
  readonly monotonic?: () => number;
  readonly everyMs?: number;
}

/**
 * Logs changes of the clock, on which the retentions of object lock depend: those while the server runs, and those since it last ran. The
 * background tasks record their last success every ten minutes, which is the time that a start compares with.
 */
export function watchClock(options: ClockWatchOptions): { stop(): Promise<void> } {
  const { records, log, wall = Date.now, monotonic = () => performance.now(), everyMs = minuteMs } = options;
  const clock = lockClock(wall, monotonic);
  let reported = 0;
  const compare = () => {
    const step = wall() < clock.latest() ? clock.earliest() - clock.latest() : clock.latest() - clock.earliest();
    if (Math.abs(step - reported) < minuteMs) return;
    reported = step;
    const seconds = Math.round(step / 1_000);
    log.error(
      { event: 'clock-changed', seconds },
      `the clock is ${Math.abs(seconds)} s ${step < 0 ? 'behind' : 'ahead of'} the time that passed since the start: it was set, or the ` +
        'machine slept; no retention of object lock ends earlier for it; check the clock, and restart the server when it is right',
    );
  };
  const start = async () => {
    const last = await lastRecordedTime(records);
    const now = wall();
    if (last === undefined || (now >= last - minuteMs && now <= last + dayMs)) return;
    const fields = { now: new Date(now).toISOString(), last: new Date(last).toISOString() };
    if (now < last) {
      log.error(
        { event: 'clock-back', ...fields },
        'the clock is behind the time at which this store was last used; check it',
      );
    } else {
      log.error(
        { event: 'clock-forward', ...fields },
        'this store was last used more than a day ago, or the clock is wrong; retentions of object lock that ended since then are over; ' +
          'if no server ran for so long, all is well, else stop the server and correct the clock',
      );
    }
  };
  let started = false;
  const rounds = repeated(
    everyMs,
    async () => {
      if (!started) await start();
      started = true;
      compare();
    },
    // The store is away, and reported by others.
    () => undefined,
  );
  void rounds.now();
  return { stop: () => rounds.stop() };
}

async function lastRecordedTime(records: Pick<RecordStore, 'scan'>): Promise<number | undefined> {
  let last: number | undefined;
  for await (const item of records.scan(within('background'))) {
    if (item.kind !== 'entry') continue;
    const { lastSuccess } = decodeRecord(item.value, 'a background task') as BackgroundTask;
    if (lastSuccess !== undefined && (last === undefined || lastSuccess > last)) last = lastSuccess;
  }
  return last;
}
