/**
 * Decides when the memory engines fail: at random from a seed, so that a failing run can be repeated, or by a script, for a test of one
 * fault. It uses no clock: latency is counted in turns of the event loop.
 */

/** Probabilities from 0 to 1; absent is 0. */
interface FaultPlan {
  readonly seed?: number;
  /** Every operation and every chunk of a body waits for up to this many turns of the event loop. */
  readonly latencyTicks?: number;
  /** A commit with expectations returns `conflict` for its first expectation and changes nothing. */
  readonly conflict?: number;
  /** A commit takes effect and returns `unknown`. */
  readonly lostAfter?: number;
  /** A commit returns `unknown` and never takes effect. */
  readonly lostBefore?: number;
  /** A commit returns `unknown` and takes effect some turns later, unless `outcome` is called first. */
  readonly late?: number;
  /** An operation throws `StoreError('unreachable')` and changes nothing. */
  readonly unavailable?: number;
  /** The write of a blob fails after some of its bytes with `StoreError('full')`. */
  readonly blobWrite?: number;
  /** The read of a blob fails after some of its bytes. */
  readonly blobRead?: number;
}

export type Fault = Exclude<keyof FaultPlan, 'seed' | 'latencyTicks'>;

export class Faults {
  readonly #plan: FaultPlan;
  readonly #scripted: Fault[] = [];
  #state: number;

  constructor(plan: FaultPlan = {}) {
    this.#plan = plan;
    this.#state = (plan.seed ?? 1) | 0;
  }

  /** Injects these faults, in this order, into the next operations that can have them. Random faults resume after that. */
  script(...faults: readonly Fault[]): void {
    this.#scripted.push(...faults);
  }

  /** Returns the fault of this operation, if any. */
  strike(possible: readonly Fault[]): Fault | undefined {
    const scripted = this.#scripted[0];
    if (scripted !== undefined) {
      if (!possible.includes(scripted)) return undefined;
      this.#scripted.shift();
      return scripted;
    }
    return possible.find((fault) => this.#random() < (this.#plan[fault] ?? 0));
  }

  /** Waits for the latency of the plan. */
  async delay(): Promise<void> {
    const max = this.#plan.latencyTicks ?? 0;
    if (max === 0) return;
    for (let ticks = this.upTo(max); ticks > 0; ticks -= 1) await turn();
  }

  /** Returns an integer from 0 to `most`, inclusive. */
  upTo(max: number): number {
    return Math.floor(this.#random() * (max + 1));
  }

  /** The generator is Mulberry32, which is good enough for faults. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/** Waits for one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
