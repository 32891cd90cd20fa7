/** By the place in the memory. The counters of each target follow. */
const whole = { bytesUnderWay: 0 } as const;
const each = { sent: 0, lost: 1, waiting: 2 } as const;
const wholeSize = Object.keys(whole).length;
const eachSize = Object.keys(each).length;

/** Bytes of entries that the HTTP threads have made and the main thread has not taken yet: it does little else. */
const mostUnderWay = 16n * 1024n * 1024n;

export interface AuditTargetSums {
  readonly target: string;
  /** Entries. */
  readonly sent: number;
  readonly lost: number;
  readonly waiting: number;
}

/** Memory for the counters of so many targets, to be handed to each thread. */
export function auditTallyMemory(targets: number): SharedArrayBuffer {
  return new SharedArrayBuffer((wholeSize + targets * eachSize) * BigInt64Array.BYTES_PER_ELEMENT);
}

/** What became of entries, in memory that all threads share: any of them can tell Prometheus. */
export class AuditTally {
  readonly #cells: BigInt64Array;
  readonly #targets: readonly string[];

  /** `targets` are the same in every thread, and in the same order. */
  constructor(memory: SharedArrayBuffer, targets: readonly string[]) {
    this.#cells = new BigInt64Array(memory);
    this.#targets = targets;
  }

  /** Whether an entry of so many bytes may be on its way to the main thread. What it says no to is lost. */
  begins(bytes: number): boolean {
    const size = BigInt(bytes);
    if (Atomics.add(this.#cells, whole.bytesUnderWay, size) + size <= mostUnderWay) return true;
    Atomics.sub(this.#cells, whole.bytesUnderWay, size);
    for (const target of this.#targets.keys()) this.lost(target, 1);
    return false;
  }

  arrived(bytes: number): void {
    Atomics.sub(this.#cells, whole.bytesUnderWay, BigInt(bytes));
  }

  sent(target: number, entries: number): void {
    this.#add(target, each.sent, entries);
  }

  lost(target: number, entries: number): void {
    this.#add(target, each.lost, entries);
  }

  waiting(target: number, entries: number): void {
    Atomics.store(this.#cells, wholeSize + target * eachSize + each.waiting, BigInt(entries));
  }

  sums(): readonly AuditTargetSums[] {
    const read = (target: number, field: number) =>
      Number(Atomics.load(this.#cells, wholeSize + target * eachSize + field));
    return this.#targets.map((target, at) => ({
      target,
      sent: read(at, each.sent),
      lost: read(at, each.lost),
      waiting: read(at, each.waiting),
    }));
  }

  #add(target: number, field: number, entries: number): void {
    Atomics.add(this.#cells, wholeSize + target * eachSize + field, BigInt(entries));
  }
}
