import { setTimeout as sleep } from 'node:timers/promises';

/** Time as a remote store sees it; tests bring one that stands still until somebody waits. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  async sleep(ms) {
    await sleep(ms);
  },
};
