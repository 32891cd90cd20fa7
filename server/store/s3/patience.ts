import { setTimeout as sleep } from 'node:timers/promises';

/** How long another server is waited for. Milliseconds. */
export interface Patience {
  /** From the first attempt on; no further one begins after it. */
  readonly total: number;
  /** For the head of an answer to a request without a body. */
  readonly answer: number;
  /** For a body to be sent and answered. */
  readonly upload: number;
  /** Between two pieces of a body that is read. */
  readonly silence: number;
  /** The first pause between two attempts, at most; each further one is at most twice as long. */
  readonly pause: number;
}

/** A restart of that S3 is waited for; what lasts longer is answered, before clients give up by themselves and requests pile up. */
export const usualPatience: Patience = { total: 15_000, answer: 10_000, upload: 30_000, silence: 10_000, pause: 50 };

const LONGEST_PAUSE = 2_000;

/** Attempts that belong together: says whether there is time for another one, and waits until then. */
export class Attempts {
  readonly #patience: Patience;
  #began = performance.now();
  #made = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Something was got: the time begins anew. */
  progressed(): void {
    this.#began = performance.now();
    this.#made = 0;
  }

  /**
   * Waits for a random part of a pause that doubles each time, so that those who were refused together don't come back together; at
   * least as long as the server asked for. Resolves with whether another attempt is to be made.
   */
  async another(leastMs = 0): Promise<boolean> {
    const most = Math.min(LONGEST_PAUSE, this.#patience.pause * 2 ** this.#made);
    const wait = Math.max(leastMs, Math.random() * most);
    if (performance.now() + wait - this.#began > this.#patience.total) return false;
    this.#made += 1;
    await sleep(wait);
    return true;
  }
}
