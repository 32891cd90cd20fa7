import { StoreError } from '../store-error.ts';

/** Which primary a session writes to. Each promotion of a standby begins a new timeline of the same system. */
export interface Primary {
  readonly system: string;
  readonly timeline: number;
}

/** A session, as far as the choice of the primary needs it. */
interface Located {
  /** Absent where the database does not say it. */
  readonly primary?: Primary;
  readonly connection: { close(): void };
}

/** Returns the memory in which the threads of a process share the newest primary. */
export function newestPrimaryMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BigUint64Array.BYTES_PER_ELEMENT);
}

/**
 * Keeps the sessions of a process at the newest primary that it has seen. An old primary may come back and take writes, which the new one does not
 * have; it may never have been stopped; and connections to it may live on behind a proxy, while new ones go to the new one. All threads
 * share what one has seen: a thread without a commit would not notice that its reads are of the past.
 */
export class NewestPrimary {
  readonly #memory: BigUint64Array;
  #applied = 0n;

  constructor(memory = newestPrimaryMemory()) {
    this.#memory = new BigUint64Array(memory);
  }

  /** Closes sessions of an older primary. @throws StoreError if the session itself is one */
  admit({ primary }: Located, others: readonly Located[], where: string): void {
    if (primary === undefined) return;
    const own = packed(primary);
    for (;;) {
      const newest = Atomics.load(this.#memory, 0);
      if (isOlder(own, newest)) {
        throw new StoreError(
          'unreachable',
          `${where} is an old primary: it has timeline ${primary.timeline}, and another one was promoted to ${timelineOf(newest)}. ` +
            'What it takes is lost; stop it, and make it a standby of the new one (pg_rewind)',
        );
      }
      if (Atomics.compareExchange(this.#memory, 0, newest, own) === newest) break;
    }
    this.closeOld(others);
  }

  /** Closes sessions of a primary that is older than one which any thread has seen. It is cheap while nothing has changed. */
  closeOld(sessions: readonly Located[]): void {
    const newest = Atomics.load(this.#memory, 0);
    if (newest === this.#applied) return;
    this.#applied = newest;
    for (const { primary, connection } of sessions) {
      if (primary !== undefined && isOlder(packed(primary), newest)) connection.close();
    }
  }
}

const timelineBits = 24n;

/** One number, so that threads exchange it at once: the end of the system's id, which is different for each initdb, and the timeline. */
function packed({ system, timeline }: Primary): bigint {
  return BigInt.asUintN(64, (BigInt(system) << timelineBits) | BigInt.asUintN(Number(timelineBits), BigInt(timeline)));
}

function timelineOf(primary: bigint): bigint {
  return BigInt.asUintN(Number(timelineBits), primary);
}

function isOlder(one: bigint, other: bigint): boolean {
  return one >> timelineBits === other >> timelineBits && timelineOf(one) < timelineOf(other);
}
