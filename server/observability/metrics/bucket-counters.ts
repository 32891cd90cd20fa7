import { bucketOf, firstByteBounds, type RequestCounters } from './request-counters.ts';

/** The maximum of buckets in each thread that have counters of their own; later buckets are counted together. */
const mostBuckets = 100;
/** The same maximum as in `RequestCounters`. */
const maxOperations = 128;

/** The row of all buckets beyond the maximum: no bucket can have this name. */
export const otherBuckets = '(others)';

/** The bytes of a name: its length, and the longest name that S3 allows. */
const nameSize = 64;

/** Offsets in the counters of an operation. The histogram follows, with one more for values above its bounds. */
const each = { total: 0, inFlight: 1, clientErrors: 2, serverErrors: 3, canceled: 4 } as const;
const boundsAt = Object.keys(each).length;
const eachSize = boundsAt + firstByteBounds.length + 1;
/** Offsets in the counters of a bucket, after its operations. */
const receivedAt = maxOperations * eachSize;
const sentAt = receivedAt + 1;
const bucketSize = sentAt + 1;

const places = mostBuckets + 1;
/** The bytes of a thread: the count of buckets, their names, and their counters. */
const namesAt = 8;
const countersAt = namesAt + places * nameSize;
const threadSize = countersAt + places * bucketSize * Float64Array.BYTES_PER_ELEMENT;

/** Allocates the counters of all threads. The system allocates pages as they are written, so that memory grows with the buckets. */
export function bucketCounterMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * threadSize);
}

export interface BucketOperationSums extends Readonly<Record<keyof typeof each, number>> {
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
    if (place !== undefined) this.#add(place, operation, each.inFlight, 1);
    return place;
  }

  ended(bucket: string, operation: string, begun: number | undefined, request: BucketRequest): void {
    if (begun !== undefined) this.#add(begun, operation, each.inFlight, -1);
    const { outcome, firstByteSeconds, received, sent } = request;
    const place = begun ?? (typeof outcome === 'number' && outcome < 400 ? this.#placeOf(bucket) : undefined);
    if (place === undefined) return;
    this.#add(place, operation, each.total, 1);
    if (outcome === 'canceled') this.#add(place, operation, each.canceled, 1);
    else if (outcome >= 500) this.#add(place, operation, each.serverErrors, 1);
    else if (outcome >= 400) this.#add(place, operation, each.clientErrors, 1);
    if (firstByteSeconds !== undefined) this.#add(place, operation, boundsAt + bucketOf(firstByteSeconds), 1);
    const at = place * bucketSize;
    this.#counters[at + receivedAt] = (this.#counters[at + receivedAt] ?? 0) + received;
    this.#counters[at + sentAt] = (this.#counters[at + sentAt] ?? 0) + sent;
  }

  /** Returns the sums of all threads, by bucket name. */
  sums(): readonly BucketSums[] {
    const found = new Map<string, Float64Array[]>();
    for (let thread = 0; thread < this.#memory.byteLength / threadSize; thread++) {
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
          const at = index * eachSize;
          return {
            operation,
            total: sum(at + each.total),
            inFlight: sum(at + each.inFlight),
            clientErrors: sum(at + each.clientErrors),
            serverErrors: sum(at + each.serverErrors),
            canceled: sum(at + each.canceled),
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
    const place = Math.min(used, mostBuckets);
    const name = place === mostBuckets ? otherBuckets : bucket;
    if (place === used) {
      const bytes = Buffer.from(name, 'latin1').subarray(0, nameSize - 1);
      this.#names[place * nameSize] = bytes.length;
      this.#names.set(bytes, place * nameSize + 1);
      Atomics.store(this.#count, 0, used + 1);
    }
    // The other names are compared each time: a cache of them would grow without end.
    if (place < mostBuckets) this.#known.set(bucket, place);
    return place;
  }

  #add(place: number, operation: string, field: number, value: number): void {
    const index = this.#indexes.get(operation);
    if (index === undefined) return;
    const at = place * bucketSize + index * eachSize + field;
    this.#counters[at] = (this.#counters[at] ?? 0) + value;
  }
}

function partOf(memory: SharedArrayBuffer, thread: number) {
  const at = thread * threadSize;
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
  refused(code: string): void {
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
