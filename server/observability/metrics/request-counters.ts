import { isServerError } from './server-error.ts';
import { bucketOf, firstByteBounds } from './first-byte-bounds.ts';

/** The maximum of operations for which every thread has counters. The main thread, which allocates the memory, knows no operation. */
export const maxOperations = 128;

/** Offsets of the counters of a whole thread. */
const whole = { rejectedAuth: 0, rejectedTimestamp: 1, received: 2, sent: 3 } as const;
const wholeSize = Object.keys(whole).length;

/** Offsets in the counters of one operation. The histogram follows, with one more for values above its bounds. */
const each = { total: 0, inFlight: 1, clientErrors: 2, serverErrors: 3, canceled: 4, firstByteSeconds: 5 } as const;
const bucketsAt = Object.keys(each).length;
const eachSize = bucketsAt + firstByteBounds.length + 1;

const threadSize = wholeSize + maxOperations * eachSize;

/** Allocates the counters of all threads. */
export function requestCounterMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * threadSize * Float64Array.BYTES_PER_ELEMENT);
}

export interface OperationSums extends Readonly<Record<keyof typeof each, number>> {
  /** The name in the S3 documentation. */
  readonly operation: string;
  /** Requests by the first bound that holds them; those above every bound come last. */
  readonly firstBytes: readonly number[];
}

export interface RequestSums extends Readonly<Record<keyof typeof whole, number>> {
  /** Operations with at least one request. */
  readonly operations: readonly OperationSums[];
}

/**
 * The counters of all threads in shared memory. Each thread writes its own part, so that no count needs a lock or an atomic operation,
 * and any thread can add them up: 64-bit processors read and write eight aligned bytes atomically.
 */
export class RequestCounters {
  readonly #all: Float64Array;
  readonly #own: Float64Array;
  readonly #operations: readonly string[];
  readonly #places: ReadonlyMap<string, number>;

  /** `operations` must be the same in every thread, in the same order. */
  constructor(memory: SharedArrayBuffer, thread: number, operations: readonly string[]) {
    if (operations.length > maxOperations) throw new RangeError(`there is no room for ${operations.length} operations`);
    const bytes = threadSize * Float64Array.BYTES_PER_ELEMENT;
    this.#all = new Float64Array(memory);
    this.#own = new Float64Array(memory, thread * bytes, threadSize);
    this.#operations = operations;
    this.#places = new Map(operations.map((name, index) => [name, wholeSize + index * eachSize]));
  }

  /** Returns the place of an operation for the other methods; undefined for one that is not counted. */
  placeOf(operation: string): number | undefined {
    return this.#places.get(operation);
  }

  began(place: number): void {
    this.#add(place + each.inFlight, 1);
  }

  /** @param firstByteSeconds the time until the answer began; undefined where it never did */
  ended(place: number, outcome: number | 'canceled', firstByteSeconds: number | undefined): void {
    this.#add(place + each.inFlight, -1);
    this.#add(place + each.total, 1);
    if (outcome === 'canceled') this.#add(place + each.canceled, 1);
    else if (isServerError(outcome)) this.#add(place + each.serverErrors, 1);
    else if (outcome >= 400) this.#add(place + each.clientErrors, 1);
    if (firstByteSeconds === undefined) return;
    this.#add(place + each.firstByteSeconds, firstByteSeconds);
    this.#add(place + bucketsAt + bucketOf(firstByteSeconds), 1);
  }

  rejected(why: 'auth' | 'timestamp'): void {
    this.#add(why === 'auth' ? whole.rejectedAuth : whole.rejectedTimestamp, 1);
  }

  /** Bytes. */
  moved(received: number, sent: number): void {
    this.#add(whole.received, received);
    this.#add(whole.sent, sent);
  }

  /** Returns the sums of all threads. */
  sums(): RequestSums {
    return {
      rejectedAuth: this.#sum(whole.rejectedAuth),
      rejectedTimestamp: this.#sum(whole.rejectedTimestamp),
      received: this.#sum(whole.received),
      sent: this.#sum(whole.sent),
      operations: this.#operations
        .map((operation, index) => this.#operationSums(operation, wholeSize + index * eachSize))
        .filter(({ total, inFlight }) => total > 0 || inFlight > 0),
    };
  }

  #operationSums(operation: string, place: number): OperationSums {
    const buckets = place + bucketsAt;
    return {
      operation,
      total: this.#sum(place + each.total),
      inFlight: this.#sum(place + each.inFlight),
      clientErrors: this.#sum(place + each.clientErrors),
      serverErrors: this.#sum(place + each.serverErrors),
      canceled: this.#sum(place + each.canceled),
      firstByteSeconds: this.#sum(place + each.firstByteSeconds),
      firstBytes: Array.from({ length: firstByteBounds.length + 1 }, (_, index) => this.#sum(buckets + index)),
    };
  }

  #add(place: number, value: number): void {
    this.#own[place] = (this.#own[place] ?? 0) + value;
  }

  #sum(place: number): number {
    let sum = 0;
    for (let at = place; at < this.#all.length; at += threadSize) sum += this.#all[at] ?? 0;
    return sum;
  }
}
