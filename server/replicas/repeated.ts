import { setTimeout as sleep } from 'node:timers/promises';

/** Work that is repeated until it is stopped, one time after the other; never rejects. */
export interface Repeated {
  /** Now, too, and resolves when that was done. */
  now(): Promise<void>;
  /** Resolves when the last time is over, or after so many milliseconds: it goes on then, unless the process ends. */
  stop(patienceMs?: number): Promise<void>;
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
    async stop(patienceMs) {
      clearInterval(timer);
      const enough = patienceMs === undefined ? [] : [sleep(patienceMs, undefined, { ref: false })];
      await Promise.race([running, ...enough]);
    },
  };
}
