import type { AuditTargetState } from './audit-target.ts';

/** Offsets in the memory. The counters of each target follow. */
const whole = { bytesInTransit: 0 } as const;
const each = { sent: 0, dropped: 1, waiting: 2, state: 3 } as const;
/** The states in the order of their numbers. */
const states: readonly AuditTargetState[] = ['not tried yet', 'online', 'offline'];
const wholeSize = Object.keys(whole).length;
const eachSize = Object.keys(each).length;

/** The maximum of bytes of entries between the HTTP threads and the main thread, which does little else. */
const maxInTransit = 16n * 1024n * 1024n;

export interface AuditTargetSums {
  readonly target: string;
  /** Entries. */
  readonly sent: number;
  readonly dropped: number;
  readonly waiting: number;
  readonly state: AuditTargetState;
}

/** Allocates the counters of all targets, for each thread. */
export function auditTallyMemory(targets: number): SharedArrayBuffer {
  return new SharedArrayBuffer((wholeSize + targets * eachSize) * BigInt64Array.BYTES_PER_ELEMENT);
}

/** The counters of audit entries, in memory that all threads share: each of them can report to Prometheus. */
export class AuditTally {
  readonly #cells: BigInt64Array;
  readonly #targets: readonly string[];

  /** `targets` must be the same in every thread, in the same order. */
  constructor(memory: SharedArrayBuffer, targets: readonly string[]) {
    this.#cells = new BigInt64Array(memory);
    this.#targets = targets;
  }

  /** Reserves space for an entry on its way to the main thread. On false the entry is lost. */
  begins(bytes: number): boolean {
    const size = BigInt(bytes);
    if (Atomics.add(this.#cells, whole.bytesInTransit, size) + size <= maxInTransit) return true;
    Atomics.sub(this.#cells, whole.bytesInTransit, size);
    for (const target of this.#targets.keys()) this.dropped(target, 1);
    return false;
  }

  arrived(bytes: number): void {
    Atomics.sub(this.#cells, whole.bytesInTransit, BigInt(bytes));
  }

  sent(target: number, entries: number): void {
    this.#add(target, each.sent, entries);
  }

  dropped(target: number, entries: number): void {
    this.#add(target, each.dropped, entries);
  }

  waiting(target: number, entries: number): void {
    Atomics.store(this.#cells, wholeSize + target * eachSize + each.waiting, BigInt(entries));
  }

  tried(target: number, isTaken: boolean): void {
    const state = BigInt(states.indexOf(isTaken ? 'online' : 'offline'));
    Atomics.store(this.#cells, wholeSize + target * eachSize + each.state, state);
  }

  sums(): readonly AuditTargetSums[] {
    const read = (target: number, field: number) =>
      Number(Atomics.load(this.#cells, wholeSize + target * eachSize + field));
    return this.#targets.map((target, at) => ({
      target,
      sent: read(at, each.sent),
      dropped: read(at, each.dropped),
      waiting: read(at, each.waiting),
      state: states[read(at, each.state)] ?? 'not tried yet',
    }));
  }

  #add(target: number, field: number, entries: number): void {
    Atomics.add(this.#cells, wholeSize + target * eachSize + field, BigInt(entries));
  }
}
