import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** Time for tests, shared by a store and the vault it speaks to: it stands still until somebody waits. */
export class VirtualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  /** What was waited for, in order. */
  readonly slept: number[] = [];

  now(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    const until = this.#now + ms;
    // What others have under way comes first, as it would in a real wait.
    await turn();
    this.#now = Math.max(this.#now, until);
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}
