import { isServerError } from './server-error.ts';
import { BucketQuestions, maxListedBuckets, type BucketList } from './bucket-list.ts';
import { bucketOf, firstByteBounds } from './first-byte-bounds.ts';
import { maxOperations } from './request-counters.ts';

/** The row of all requests whose bucket has no row of its own: no bucket can have this name. */
export const otherBuckets = '(others)';

/**
 * The milliseconds for which the row of a removed bucket is still shown, so that the next scrape has its last requests. Prometheus reads
 * once a minute, or more often.
 */
export const keptMs = 600_000;

/** The bytes of a name: its length, and the longest name that S3 allows. */
const nameSize = 64;

/** The maximum of requests that wait for the list. Later ones are counted as those of other buckets. */
const maxParked = 10_000;

/** Offsets in the counters of an operation. The histogram follows, with one more for values above its bounds. */
const each = { total: 0, inFlight: 1, clientErrors: 2, serverErrors: 3, canceled: 4 } as const;
const boundsAt = Object.keys(each).length;
const eachSize = boundsAt + firstByteBounds.length + 1;
/** Offsets in the counters of a bucket, after its operations. */
const receivedAt = maxOperations * eachSize;
const sentAt = receivedAt + 1;
const rowSize = sentAt + 1;

/** The listed buckets, as many that were removed a short time ago, and all others together in the first place. */
const places = 2 * maxListedBuckets + 1;
const othersPlace = 0;

/** The bytes before the parts of the threads: the count of questions. */
const headSize = 8;
/** Offsets in the part of a thread: the version of each place, the end of each, their names, and their counters. */
const endsAt = Math.ceil((places * Int32Array.BYTES_PER_ELEMENT) / 8) * 8;
const namesAt = endsAt + places * Float64Array.BYTES_PER_ELEMENT;
const countersAt = namesAt + places * nameSize;
const threadSize = countersAt + places * rowSize * Float64Array.BYTES_PER_ELEMENT;

/** Allocates the counters of all threads. The system allocates pages as they are written, so that memory grows with the buckets. */
export function bucketCounterMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(headSize + threads * threadSize);
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
  /** The status, or `canceled` where the client went away. */
  readonly outcome: number | 'canceled';
  readonly firstByteSeconds: number | undefined;
  /** Bytes of bodies. */
  readonly received: number;
  readonly sent: number;
}

/** The row of a bucket in this thread. */
export interface BucketRow {
  readonly place: number;
  /** The place was given to another bucket, so that a request that began before must not count there. */
  replaced: boolean;
}

/** A request that ended before it was known if its bucket has a row. */
interface ParkedRequest {
  readonly bucket: string;
  readonly operation: string;
  readonly request: BucketRequest;
  readonly question: number;
}

interface BucketCounterOptions {
  /** Asks for the list of buckets; `takeList` gets it. */
  readonly ask: () => void;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/**
 * Counters by bucket of all threads, in shared memory. Each thread writes its own part, and any thread can add them up. Which buckets have
 * rows says one list, which all threads of all servers have. Each request to a bucket is counted in exactly one row: a request that ends
 * before its thread knows the row waits for the list.
 */
export class BucketCounters {
  readonly #memory: SharedArrayBuffer;
  readonly #own: ReturnType<typeof partOf>;
  readonly #operations: readonly string[];
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #questions: BucketQuestions;
  readonly #ask: () => void;
  readonly #clock: () => number;
  readonly #rows = new Map<string, BucketRow>();
  readonly #others: BucketRow = { place: othersPlace, replaced: false };
  #parked: ParkedRequest[] = [];
  /** No bucket that is not on the list can come to it before one is removed. */
  #full = false;

  /** `operations` must be the same in every thread, in the same order. */
  constructor(
    memory: SharedArrayBuffer,
    thread: number,
    operations: readonly string[],
    { ask, clock = Date.now }: BucketCounterOptions,
  ) {
    if (operations.length > maxOperations) throw new RangeError(`there is no room for ${operations.length} operations`);
    this.#memory = memory;
    this.#own = partOf(memory, thread);
    this.#operations = operations;
    this.#indexes = new Map(operations.map((name, index) => [name, index]));
    this.#questions = new BucketQuestions(memory);
    this.#ask = ask;
    this.#clock = clock;
    this.#name(othersPlace, otherBuckets);
  }

  /** Returns the row in which the request is under way, which `ended` needs. */
  began(bucket: string, operation: string): BucketRow {
    const row = this.#rows.get(bucket) ?? this.#others;
    this.#add(row, operation, each.inFlight, 1);
    return row;
  }

  ended(bucket: string, operation: string, begun: BucketRow, request: BucketRequest): void {
    if (!begun.replaced) this.#add(begun, operation, each.inFlight, -1);
    const row = this.#rows.get(bucket) ?? (this.#full || bucket.length >= nameSize ? this.#others : undefined);
    if (row !== undefined) return this.#count(row, operation, request);
    if (this.#parked.length >= maxParked) return this.#count(this.#others, operation, request);
    this.#parked.push({ bucket, operation, request, question: this.#questions.ask() });
    // Those that come meanwhile are part of the next question.
    if (this.#parked.length === 1) this.#ask();
  }

  /** Takes the list of the buckets that have rows, and counts the requests that waited for it. */
  takeList({ names, answers }: BucketList): void {
    const now = this.#clock();
    const listed = new Set(names);
    const { ends } = this.#own;
    for (const [bucket, row] of this.#rows) {
      const end = ends[row.place] ?? 0;
      if (listed.has(bucket)) ends[row.place] = 0;
      else if (end === 0) ends[row.place] = now + keptMs;
      else if (end <= now) this.#giveBack(bucket, row);
    }
    for (const name of names) if (!this.#rows.has(name)) this.#assign(name);
    this.#full = names.length >= maxListedBuckets;
    const parked = this.#parked;
    this.#parked = [];
    for (const one of parked) {
      if (one.question > answers) this.#parked.push(one);
      else this.#count(this.#rows.get(one.bucket) ?? this.#others, one.operation, one.request);
    }
    if (this.#parked.length > 0) this.#ask();
  }

  /** Returns the sums of all threads, by bucket name. */
  sums(): readonly BucketSums[] {
    const now = this.#clock();
    const found = new Map<string, Float64Array[]>();
    for (let thread = 0; thread < (this.#memory.byteLength - headSize) / threadSize; thread++) {
      const part = partOf(this.#memory, thread);
      for (let place = 0; place < places; place++) {
        const read = readPlace(part, place, now);
        if (read === undefined) continue;
        const parts = found.get(read.name) ?? [];
        parts.push(read.counters);
        found.set(read.name, parts);
      }
    }
    return [...found]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([bucket, parts]) => this.#sumsOf(bucket, parts))
      .filter(({ operations }) => operations.length > 0);
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

  #assign(bucket: string): void {
    const used = new Set([...this.#rows.values()].map(({ place }) => place));
    let place = othersPlace + 1;
    while (used.has(place)) place++;
    if (place >= places) {
      // As many buckets were removed as the list has: the row that would end first ends now.
      const [removed, row] = [...this.#rows]
        .filter(([, { place: at }]) => (this.#own.ends[at] ?? 0) > 0)
        .reduce((a, b) => ((this.#own.ends[a[1].place] ?? 0) <= (this.#own.ends[b[1].place] ?? 0) ? a : b));
      this.#giveBack(removed, row);
      ({ place } = row);
    }
    this.#name(place, bucket);
    this.#rows.set(bucket, { place, replaced: false });
  }

  #giveBack(bucket: string, row: BucketRow): void {
    row.replaced = true;
    this.#rows.delete(bucket);
    this.#name(row.place, '');
  }

  /** Begins the row of a name at zero. The version is odd meanwhile, so that a thread that reads the row reads it again. */
  #name(place: number, name: string): void {
    const { versions, ends, names, counters } = this.#own;
    const version = Atomics.load(versions, place);
    Atomics.store(versions, place, version + 1);
    const bytes = Buffer.from(name, 'latin1').subarray(0, nameSize - 1);
    names[place * nameSize] = bytes.length;
    names.set(bytes, place * nameSize + 1);
    ends[place] = 0;
    // A page that was never written is not allocated.
    if (version > 0) counters.fill(0, place * rowSize, (place + 1) * rowSize);
    Atomics.store(versions, place, version + 2);
  }

  #count(row: BucketRow, operation: string, request: BucketRequest): void {
    const { outcome, firstByteSeconds, received, sent } = request;
    this.#add(row, operation, each.total, 1);
    if (outcome === 'canceled') this.#add(row, operation, each.canceled, 1);
    else if (isServerError(outcome)) this.#add(row, operation, each.serverErrors, 1);
    else if (outcome >= 400) this.#add(row, operation, each.clientErrors, 1);
    if (firstByteSeconds !== undefined) this.#add(row, operation, boundsAt + bucketOf(firstByteSeconds), 1);
    const { counters } = this.#own;
    const at = row.place * rowSize;
    counters[at + receivedAt] = (counters[at + receivedAt] ?? 0) + received;
    counters[at + sentAt] = (counters[at + sentAt] ?? 0) + sent;
  }

  #add({ place }: BucketRow, operation: string, field: number, value: number): void {
    const index = this.#indexes.get(operation);
    if (index === undefined) return;
    const { counters } = this.#own;
    const at = place * rowSize + index * eachSize + field;
    counters[at] = (counters[at] ?? 0) + value;
  }
}

function partOf(memory: SharedArrayBuffer, thread: number) {
  const at = headSize + thread * threadSize;
  return {
    versions: new Int32Array(memory, at, places),
    ends: new Float64Array(memory, at + endsAt, places),
    names: new Uint8Array(memory, at + namesAt, places * nameSize),
    counters: new Float64Array(memory, at + countersAt, places * rowSize),
  };
}

/** Returns a row of a thread as it was at one moment; undefined where the place has no bucket, or one that was removed long ago. */
function readPlace(part: ReturnType<typeof partOf>, place: number, now: number) {
  for (;;) {
    const version = Atomics.load(part.versions, place);
    const length = part.names[place * nameSize] ?? 0;
    const end = part.ends[place] ?? 0;
    const name = Buffer.from(part.names.subarray(place * nameSize + 1, place * nameSize + 1 + length)).toString(
      'latin1',
    );
    const shown = name !== '' && (end === 0 || end > now);
    const counters = shown ? part.counters.slice(place * rowSize, (place + 1) * rowSize) : undefined;
    if (version % 2 === 0 && Atomics.load(part.versions, place) === version) return counters && { name, counters };
  }
}
