import {
  type Batch,
  type Entry,
  type Expectation,
  type Key,
  type RecordStore,
  type Revision,
} from '../store/record-store.ts';
import { commitOnce } from '../store/commits.ts';
import { type Hold, type Lease, leaseLost } from './lease.ts';
import { decodeKey } from '../store/keys.ts';
import { liveKeys } from './server-registry.ts';
import { StoreError } from '../store/store-error.ts';

const FORMAT = 1;

/** The record of a lease. */
interface Term {
  /** Grows with every term. */
  readonly generation: number;
  /** The id of the server. Undefined after a release. */
  readonly holder?: string;
  /** When the holder took it, in milliseconds since 1970 by its clock: for people alone. Absent in the terms of older servers. */
  readonly since?: number;
}

function encodeTerm(term: Term): Buffer {
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(JSON.stringify(term))]);
}

/** Throws for the format of a newer server, which then keeps the lease. */
function decodeTerm(value: Buffer): Term {
  if (value[0] !== FORMAT) {
    throw new StoreError('unreachable', `a lease has format ${value[0]}, which this server does not know`);
  }
  return JSON.parse(value.toString('utf8', 1)) as Term;
}

/** In milliseconds. */
interface LeaseTimes {
  /** Another server takes over after this time without a renewal. */
  readonly ttl: number;
  /** The time between renewals. Several may fail. */
  readonly every: number;
  /** The holder stops this much earlier than others may take over, because clocks run at slightly different speeds. */
  readonly margin: number;
}

export const leaseTimes: LeaseTimes = { ttl: 15_000, every: 3_000, margin: 3_000 };

interface BackgroundLeaseOptions {
  readonly records: Pick<RecordStore, 'getAll' | 'commit' | 'outcome'>;
  /** The name of the lease. */
  readonly name: string;
  /** The id of this process, which no other process ever has. */
  readonly server: string;
  readonly random: (size: number) => Buffer;
  /** A monotonic clock in milliseconds. Its times are never compared with those of another machine. */
  readonly clock: () => number;
  readonly times?: LeaseTimes;
  readonly onChange?: (hold: Hold | undefined) => void;
}

/**
 * A lease among the servers of a record store. The holder renews it by changing a record, the heartbeat. Another server takes over if it
 * has seen no change for `ttl` by its own clock. A second record, the term, names the holder and changes with each holder. The commits of
 * the holder expect the term, and only that makes the lease safe. The clocks only avoid useless work.
 */
export class BackgroundLease implements Lease {
  readonly #options: BackgroundLeaseOptions;
  readonly #times: LeaseTimes;
  readonly #term: Key;
  readonly #beat: Key;
  /** The last state of the records, and when it was first seen. */
  #seen: { readonly state: string; readonly since: number } | undefined;
  #held: { readonly hold: Hold; readonly ended: AbortController; until: number } | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #beats = 0;
  #stepping: Promise<void> | undefined;
  #closed = false;

  constructor(options: BackgroundLeaseOptions) {
    this.#options = options;
    this.#times = options.times ?? leaseTimes;
    this.#term = liveKeys.term(options.name);
    this.#beat = liveKeys.beat(options.name);
  }

  hold(): Hold | undefined {
    if (this.#held !== undefined && this.#options.clock() >= this.#held.until) this.#end();
    return this.#held?.hold;
  }

  /**
   * Renews the lease, or takes it if it is free. Call it every `times.every` milliseconds. It throws the errors of the store; the lease
   * expires if they continue.
   */
  step(): Promise<void> {
    this.#stepping ??= this.#stepNow().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  async close(): Promise<void> {
    this.#closed = true;
    // This was the last step, so its result does not matter.
    await this.#stepping?.catch(() => undefined);
    const hold = this.hold();
    if (hold === undefined) return;
    const { generation, fence } = hold;
    this.#end();
    await this.#commit({ expect: fence, put: [{ key: this.#term, value: encodeTerm({ generation }) }] });
  }

  async #stepNow(): Promise<void> {
    const hold = this.hold();
    if (hold === undefined) await this.#takeIfFree();
    else await this.#renew(hold);
  }

  async #renew({ fence }: Hold): Promise<void> {
    const began = this.#options.clock();
    const renewed = await this.#commit({ expect: fence, put: [this.#newBeat()] });
    if (!renewed) this.#end();
    else if (this.#held !== undefined) this.#holdUntil(began);
  }

  async #takeIfFree(): Promise<void> {
    const began = this.#options.clock();
    const [term, beat] = await this.#read();
    const { generation, holder } = term === undefined ? { generation: 0 } : decodeTerm(term.value);
    // The term of this server expired and no other server took over, or the acknowledgement of an earlier attempt was lost.
    const isOwn = holder === this.#options.server;
    if (!(holder === undefined || isOwn || this.#unchangedForLong(term, beat)) || this.#closed) return;
    const next = { generation: generation + 1, holder: this.#options.server, since: Date.now() };
    const taken = await this.#commit({
      expect: [expectation(this.#term, term), expectation(this.#beat, beat)],
      put: [{ key: this.#term, value: encodeTerm(next) }, this.#newBeat()],
    });
    if (!taken) return;
    const [own] = await this.#read();
    if (own !== undefined && isTerm(own, next)) this.#begin(next.generation, own.revision, began);
  }

  #unchangedForLong(term: Entry | undefined, beat: Entry | undefined): boolean {
    const now = this.#options.clock();
    const state = `${term?.revision} ${beat?.revision}`;
    if (this.#seen?.state !== state) this.#seen = { state, since: now };
    return now - this.#seen.since >= this.#times.ttl;
  }

  #begin(generation: number, revision: Revision, began: number): void {
    const ended = new AbortController();
    const fence = [{ kind: 'revision' as const, key: this.#term, revision }];
    this.#held = { hold: { generation, fence, signal: ended.signal }, ended, until: 0 };
    this.#holdUntil(began);
    // The term may have expired already if the store was slow.
    if (this.hold() !== undefined) this.#options.onChange?.(this.#held.hold);
  }

  /** Counts from the start of the renewal. Other servers count from when they see it, which is later. */
  #holdUntil(renewed: number): void {
    if (this.#held === undefined) return;
    this.#held.until = renewed + this.#times.ttl - this.#times.margin;
    clearTimeout(this.#expiry);
    const left = Math.max(0, this.#held.until - this.#options.clock());
    this.#expiry = setTimeout(() => void this.hold(), left).unref();
  }

  #end(): void {
    clearTimeout(this.#expiry);
    const held = this.#held;
    this.#held = undefined;
    this.#seen = undefined;
    held?.ended.abort(leaseLost());
    if (held !== undefined) this.#options.onChange?.(undefined);
  }

  async #read(): Promise<readonly [Entry | undefined, Entry | undefined]> {
    const [term, beat] = await this.#options.records.getAll([this.#term, this.#beat]);
    return [term, beat];
  }

  async #commit(batch: Omit<Batch, 'id'>): Promise<boolean> {
    return (await commitOnce(this.#options.records, batch, this.#options.random)).kind === 'committed';
  }

  #newBeat() {
    this.#beats += 1;
    return { key: this.#beat, value: Buffer.from(`${this.#options.server} ${this.#beats}`) };
  }
}

/** Returns who holds the leases, with their names. */
export async function readLeases(
  records: Pick<RecordStore, 'scan'>,
): Promise<readonly { readonly name: string; readonly holder: string; readonly since: number }[]> {
  const leases = [];
  for await (const item of records.scan(liveKeys.leases)) {
    if (item.kind !== 'entry') continue;
    const [, , name, part] = decodeKey(item.key).map(String);
    if (name === undefined || part !== 'term') continue;
    const { holder, since = 0 } = decodeTerm(item.value);
    if (holder !== undefined) leases.push({ name, holder, since });
  }
  return leases;
}

function expectation(key: Key, entry: Entry | undefined): Expectation {
  return entry === undefined ? { kind: 'absent', key } : { kind: 'revision', key, revision: entry.revision };
}

function isTerm({ value }: Entry, { generation, holder }: { generation: number; holder: string }): boolean {
  const found = decodeTerm(value);
  return found.generation === generation && found.holder === holder;
}
