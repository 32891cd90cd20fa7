/** The use of the processor by a thread since its start, in milliseconds. */
interface ThreadUsage {
  /** The time in which its event loop had work. */
  readonly active: number;
  /** The time for which it had a processor. */
  readonly cpu: number;
}

interface ProcessorShareOptions {
  readonly usage?: () => ThreadUsage;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
  readonly wait?: (ms: number) => Promise<void>;
}

/** A thread that had a processor for less than this part of its work waits for one, and so do the threads of requests. */
const contendedBelow = 0.8;
/** The share of one processor for events that have not waited for long: enough for some 300 deliveries a second. */
const leastShare = 0.1;
/** Milliseconds of waiting up to which an event has the least share, and from which on it has no limit. Between them the share grows evenly. */
const waited = { least: 5_000, free: 30_000 };
/** Milliseconds between two looks at the use. */
const lookMs = 5;
const maxPauseMs = 100;
/** Milliseconds of work over which the use is averaged. */
const averagedMs = 100;

/**
 * Makes deliveries wait while the processors have too much to do, so that requests come first. The events stay in their queue and are
 * delivered later: one that has waited for 30 s does not wait any more. Without contention nothing waits.
 */
export class ProcessorShare {
  readonly #usage: () => ThreadUsage;
  readonly #clock: () => number;
  readonly #wait: (ms: number) => Promise<void>;
  #seen: ThreadUsage;
  #seenAt: number;
  /** The last use, in which what is older counts less. */
  #recent: ThreadUsage = { active: 0, cpu: 0 };
  /** Milliseconds of the processor that were used beyond the share. */
  #debt = 0;
  #pause: Promise<void> | undefined;

  constructor({ usage = threadUsage, clock = () => performance.now(), wait = sleep }: ProcessorShareOptions = {}) {
    this.#usage = usage;
    this.#clock = clock;
    this.#wait = wait;
    this.#seen = usage();
    this.#seenAt = clock();
  }

  /** Returns undefined where an event that has waited for so long may be delivered now, and else what to wait for. */
  before(waitedMs: number): Promise<void> | undefined {
    const share = shareAfter(waitedMs);
    if (share >= 1) return undefined;
    this.#look(share);
    const { active, cpu } = this.#recent;
    const pauseMs = Math.min(maxPauseMs, this.#debt / share - (this.#clock() - this.#seenAt));
    if (cpu >= active * contendedBelow || pauseMs < 1) return undefined;
    this.#pause ??= this.#wait(pauseMs).finally(() => (this.#pause = undefined));
    return this.#pause;
  }

  #look(share: number): void {
    const now = this.#clock();
    const elapsed = now - this.#seenAt;
    if (elapsed < lookMs) return;
    const usage = this.#usage();
    const more = { active: usage.active - this.#seen.active, cpu: usage.cpu - this.#seen.cpu };
    const kept = averagedMs / (averagedMs + more.active);
    this.#recent = { active: this.#recent.active * kept + more.active, cpu: this.#recent.cpu * kept + more.cpu };
    // The debt is limited, so that work of minutes ago delays no event now.
    this.#debt = Math.min(maxPauseMs * share, Math.max(0, this.#debt + more.cpu - share * elapsed));
    this.#seen = usage;
    this.#seenAt = now;
  }
}

function shareAfter(waitedMs: number): number {
  const part = (waitedMs - waited.least) / (waited.free - waited.least);
  return leastShare + (1 - leastShare) * Math.min(1, Math.max(0, part));
}

function threadUsage(): ThreadUsage {
  const { user, system } = process.threadCpuUsage();
  return { active: performance.eventLoopUtilization().active, cpu: (user + system) / 1_000 };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
