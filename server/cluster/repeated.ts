import { setTimeout as sleep } from 'node:timers/promises';

/** Work that runs periodically until it is stopped, never twice at the same time. Its methods never reject. */
export interface Repeated {
  /** Runs the work now, or waits for the current run. Resolves when it has ended. */
  now(): Promise<void>;
  /** Stops the repetition. Resolves when the current run has ended, or after the grace period; the run continues then. */
  stop(gracePeriodMs?: number): Promise<void>;
}

export function repeated(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void): Repeated {
  let running: Promise<void> | undefined;
  const run = async () => {
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      running = undefined;
    }
  };
  const now = () => (running ??= run());
  const timer = setInterval(() => void now(), everyMs).unref();
  return {
    now,
    async stop(gracePeriodMs) {
      clearInterval(timer);
      const timeout = gracePeriodMs === undefined ? [] : [sleep(gracePeriodMs, undefined, { ref: false })];
      await Promise.race([running, ...timeout]);
    },
  };
}
