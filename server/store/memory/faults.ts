/**
 * What goes wrong in the memory engines, and when: by chance from a seed, so that a failing run can be run again, or by a script,
 * for a test of one fault. No clock is involved: latency is counted in turns of the event loop.
 */

/** Probabilities from 0 to 1; absent is 0. */
export interface FaultPlan {
  readonly seed?: number;
  /** Every operation, and every chunk of a body, waits up to so many turns of the event loop. */
  readonly latencyTurns?: number;
  /** A commit that expects something is answered `conflict` for its first expectation, nothing changed. */
  readonly conflict?: number;
  /** A commit takes effect and is answered `unknown`. */
  readonly lostAfter?: number;
  /** A commit is answered `unknown` and never takes effect. */
  readonly lostBefore?: number;
  /** A commit is answered `unknown` and takes effect some turns later, unless `outcome` was asked before. */
  readonly late?: number;
  /** An operation throws `StoreUnavailable('unreachable')`, nothing changed. */
  readonly unavailable?: number;
  /** A blob's write fails after some of its bytes with `StoreUnavailable('full')`. */
  readonly blobWrite?: number;
  /** A blob's read breaks off after some of its bytes. */
  readonly blobRead?: number;
}

export type Fault = Exclude<keyof FaultPlan, 'seed' | 'latencyTurns'>;

export class Faults {
  readonly #plan: FaultPlan;
  readonly #scripted: Fault[] = [];
  #state: number;

  constructor(plan: FaultPlan = {}) {
    this.#plan = plan;
    this.#state = (plan.seed ?? 1) | 0;
  }

  /** The next operations that can suffer these faults do, in this order; chance has its turn again when all are used. */
  script(...faults: readonly Fault[]): void {
    this.#scripted.push(...faults);
  }

  /** The fault this operation suffers, of those it can. */
  strike(possible: readonly Fault[]): Fault | undefined {
    const scripted = this.#scripted[0];
    if (scripted !== undefined) {
      if (!possible.includes(scripted)) return undefined;
      this.#scripted.shift();
      return scripted;
    }
    return possible.find((fault) => this.#random() < (this.#plan[fault] ?? 0));
  }

  /** Waits as long as the plan says an operation takes. */
  async delay(): Promise<void> {
    const most = this.#plan.latencyTurns ?? 0;
    if (most === 0) return;
    for (let turns = this.upTo(most); turns > 0; turns -= 1) await turn();
  }

  /** A whole number from 0 to `most`, inclusive. */
  upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  /** Mulberry32: small, and good enough to scatter faults. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
