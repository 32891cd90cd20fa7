/** The maximum of operations for which every thread has counters. The main thread, which allocates the memory, knows no operation. */
const maxOperations = 128;

/** Upper bounds of the times to the first byte in seconds: MinIO's from 0.05 on, and finer ones below. */
export const firstByteBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

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
    else if (outcome >= 500) this.#add(place + each.serverErrors, 1);
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

/** Returns the index of the bound for a duration, or one after the last. */
function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < firstByteBounds.length && seconds > (firstByteBounds[bucket] ?? 0)) bucket++;
  return bucket;
}

/** The maximum of buckets in each thread that have counters of their own; later buckets are counted together. */
const maxBuckets = 100;

/** The row of all buckets beyond the maximum: no bucket can have this name. */
export const otherBuckets = '(others)';

/** The bytes of a name: its length, and the longest name that S3 allows. */
const nameSize = 64;

/** Offsets in the counters of an operation. The histogram follows, with one more for values above its bounds. */
const bucketEach = { total: 0, inFlight: 1, clientErrors: 2, serverErrors: 3, canceled: 4 } as const;
const boundsAt = Object.keys(bucketEach).length;
const bucketEachSize = boundsAt + firstByteBounds.length + 1;
/** Offsets in the counters of a bucket, after its operations. */
const receivedAt = maxOperations * bucketEachSize;
const sentAt = receivedAt + 1;
const bucketSize = sentAt + 1;

const places = maxBuckets + 1;
/** The bytes of a thread: the count of buckets, their names, and their counters. */
const namesAt = 8;
const countersAt = namesAt + places * nameSize;
const bucketThreadSize = countersAt + places * bucketSize * Float64Array.BYTES_PER_ELEMENT;

/** Allocates the counters of all threads. The system allocates pages as they are written, so that memory grows with the buckets. */
export function bucketCounterMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * bucketThreadSize);
}

export interface BucketOperationSums extends Readonly<Record<keyof typeof bucketEach, number>> {
  readonly operation: string;
  /** Requests by the first bound that holds them; those above every bound come last. */
  readonly firstBytes: readonly number[];
}

export interface BucketSums {
  readonly bucket: string;
  /** Bytes of bodies. */
  readonly received: number;
  readonly sent: number;
  readonly operations: readonly BucketOperationSums[];
}

/** The result of a request to a bucket. */
interface BucketRequest {
  readonly outcome: number | 'canceled';
  readonly firstByteSeconds: number | undefined;
  /** Bytes of bodies. */
  readonly received: number;
  readonly sent: number;
}

/**
 * Counters by bucket of all threads, in shared memory. Each thread writes its own part, and any thread can add them up. A bucket gets
 * its counters with its first successful request, so that requests for names that do not exist create no metrics.
 */
export class BucketCounters {
  readonly #memory: SharedArrayBuffer;
  readonly #count: Int32Array;
  readonly #names: Uint8Array;
  readonly #counters: Float64Array;
  readonly #operations: readonly string[];
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #known = new Map<string, number>();

  /** `operations` must be the same in every thread, in the same order. */
  constructor(memory: SharedArrayBuffer, thread: number, operations: readonly string[]) {
    if (operations.length > maxOperations) throw new RangeError(`there is no room for ${operations.length} operations`);
    this.#memory = memory;
    ({ count: this.#count, names: this.#names, counters: this.#counters } = partOf(memory, thread));
    this.#operations = operations;
    this.#indexes = new Map(operations.map((name, index) => [name, index]));
  }

  /** Returns the place of the bucket, which `ended` needs; undefined where it has none yet. */
  began(bucket: string, operation: string): number | undefined {
    const place = this.#known.get(bucket);
    if (place !== undefined) this.#add(place, operation, bucketEach.inFlight, 1);
    return place;
  }

  ended(bucket: string, operation: string, begun: number | undefined, request: BucketRequest): void {
    if (begun !== undefined) this.#add(begun, operation, bucketEach.inFlight, -1);
    const { outcome, firstByteSeconds, received, sent } = request;
    const place = begun ?? (typeof outcome === 'number' && outcome < 400 ? this.#placeOf(bucket) : undefined);
    if (place === undefined) return;
    this.#add(place, operation, bucketEach.total, 1);
    if (outcome === 'canceled') this.#add(place, operation, bucketEach.canceled, 1);
    else if (outcome >= 500) this.#add(place, operation, bucketEach.serverErrors, 1);
    else if (outcome >= 400) this.#add(place, operation, bucketEach.clientErrors, 1);
    if (firstByteSeconds !== undefined) this.#add(place, operation, boundsAt + bucketOf(firstByteSeconds), 1);
    const at = place * bucketSize;
    this.#counters[at + receivedAt] = (this.#counters[at + receivedAt] ?? 0) + received;
    this.#counters[at + sentAt] = (this.#counters[at + sentAt] ?? 0) + sent;
  }

  /** Returns the sums of all threads, by bucket name. */
  sums(): readonly BucketSums[] {
    const found = new Map<string, Float64Array[]>();
    for (let thread = 0; thread < this.#memory.byteLength / bucketThreadSize; thread++) {
      const { count, names, counters } = partOf(this.#memory, thread);
      for (let place = 0; place < Atomics.load(count, 0); place++) {
        const name = Buffer.from(names.subarray(place * nameSize + 1)).toString('latin1', 0, names[place * nameSize]);
        const parts = found.get(name) ?? [];
        parts.push(counters.subarray(place * bucketSize, (place + 1) * bucketSize));
        found.set(name, parts);
      }
    }
    return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([bucket, parts]) => this.#sumsOf(bucket, parts));
  }

  #sumsOf(bucket: string, parts: readonly Float64Array[]): BucketSums {
    const sum = (place: number) => parts.reduce((all, part) => all + (part[place] ?? 0), 0);
    return {
      bucket,
      received: sum(receivedAt),
      sent: sum(sentAt),
      operations: this.#operations
        .map((operation, index) => {
          const at = index * bucketEachSize;
          return {
            operation,
            total: sum(at + bucketEach.total),
            inFlight: sum(at + bucketEach.inFlight),
            clientErrors: sum(at + bucketEach.clientErrors),
            serverErrors: sum(at + bucketEach.serverErrors),
            canceled: sum(at + bucketEach.canceled),
            firstBytes: Array.from({ length: firstByteBounds.length + 1 }, (_, bound) => sum(at + boundsAt + bound)),
          };
        })
        .filter(({ total, inFlight }) => total > 0 || inFlight > 0),
    };
  }

  /** The name is written before the count of buckets that publishes it. */
  #placeOf(bucket: string): number {
    const known = this.#known.get(bucket);
    if (known !== undefined) return known;
    const used = Atomics.load(this.#count, 0);
    const place = Math.min(used, maxBuckets);
    const name = place === maxBuckets ? otherBuckets : bucket;
    if (place === used) {
      const bytes = Buffer.from(name, 'latin1').subarray(0, nameSize - 1);
      this.#names[place * nameSize] = bytes.length;
      this.#names.set(bytes, place * nameSize + 1);
      Atomics.store(this.#count, 0, used + 1);
    }
    // The other names are compared each time: a cache of them would grow without end.
    if (place < maxBuckets) this.#known.set(bucket, place);
    return place;
  }

  #add(place: number, operation: string, field: number, value: number): void {
    const index = this.#indexes.get(operation);
    if (index === undefined) return;
    const at = place * bucketSize + index * bucketEachSize + field;
    this.#counters[at] = (this.#counters[at] ?? 0) + value;
  }
}

function partOf(memory: SharedArrayBuffer, thread: number) {
  const at = thread * bucketThreadSize;
  return {
    count: new Int32Array(memory, at, 1),
    names: new Uint8Array(memory, at + namesAt, places * nameSize),
    counters: new Float64Array(memory, at + countersAt, places * bucketSize),
  };
}

/** The result of a request: a status, or `canceled` where its client went away. */
type RequestOutcome = number | 'canceled';

/** Error codes that refuse the sender of a request. Denials of policies are not among them. */
const authCodes: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidTokenId',
  'SignatureDoesNotMatch',
  'UnsupportedSignature',
]);

/** Counts one request. It counts nothing until the request has an S3 operation: probes and the admin API have none. */
export class RequestMeasure {
  readonly #counters: RequestCounters;
  readonly #buckets: BucketCounters | undefined;
  readonly #began = performance.now();
  #place: number | undefined;
  #operation = '';
  #bucket = '';
  /** The place of the bucket, where it had one when the request began. */
  #bucketPlace: number | undefined;
  #received = 0;
  #sent = 0;
  #firstByteSeconds: number | undefined;

  constructor(counters: RequestCounters, buckets?: BucketCounters) {
    this.#counters = counters;
    this.#buckets = buckets;
  }

  /** Called once, when the operation is known. The bucket is empty where the request has none. */
  isFor(operation: string, bucket = ''): void {
    this.#place = this.#counters.placeOf(operation);
    if (this.#place === undefined) return;
    this.#counters.began(this.#place);
    if (bucket === '') return;
    this.#operation = operation;
    this.#bucket = bucket;
    this.#bucketPlace = this.#buckets?.began(bucket, operation);
  }

  /** Bytes of the bodies, as far as they are known in advance. */
  moved(received: number, sent: number): void {
    this.#received = received;
    this.#sent = sent;
  }

  /** Called when the first byte of the answer is sent. */
  firstByte(): void {
    this.#firstByteSeconds ??= (performance.now() - this.#began) / 1_000;
  }

  /** The milliseconds until the answer began; undefined where it has not. */
  get firstByteMs(): number | undefined {
    return this.#firstByteSeconds === undefined ? undefined : this.#firstByteSeconds * 1_000;
  }

  /** @param code the code of the `S3Error` */
  rejected(code: string): void {
    if (this.#place === undefined) return;
    if (code === 'RequestTimeTooSkewed') this.#counters.rejected('timestamp');
    else if (authCodes.has(code)) this.#counters.rejected('auth');
  }

  ended(outcome: RequestOutcome): void {
    if (this.#place === undefined) return;
    this.#counters.ended(this.#place, outcome, this.#firstByteSeconds);
    this.#place = undefined;
    if (this.#bucket === '') return;
    this.#buckets?.ended(this.#bucket, this.#operation, this.#bucketPlace, {
      outcome,
      firstByteSeconds: this.#firstByteSeconds,
      received: this.#received,
      sent: this.#sent,
    });
  }
}
