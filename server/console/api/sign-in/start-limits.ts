import { Attempts, networkOf } from '../../../auth/guess-limits.ts';
import { pendingLifetimeMs } from './pending-sign-ins.ts';

/**
 * Limits the sign-ins that begin, since each leaves a record for ten minutes, and anyone may begin one: from a network, and from all of them
 * together. A record has less than 1 KiB.
 */
export class StartLimits {
  readonly #ofNetwork: Attempts;
  readonly #all: Attempts;

  constructor({ ofNetwork, all }: { readonly ofNetwork: number; readonly all: number }) {
    this.#ofNetwork = new Attempts({ max: ofNetwork, windowMs: 60_000 });
    this.#all = new Attempts({ max: all, windowMs: pendingLifetimeMs });
  }

  /** Counts a start, and reports whether it may be made. One that may not is not counted. */
  begin(address: string, nowMs: number): 'may-start' | 'too-many-here' | 'too-many' {
    const network = networkOf(address);
    if (this.#ofNetwork.waitSeconds(network, nowMs) > 0) return 'too-many-here';
    if (this.#all.waitSeconds('', nowMs) > 0) return 'too-many';
    this.#ofNetwork.count(network, nowMs);
    this.#all.count('', nowMs);
    return 'may-start';
  }
}
