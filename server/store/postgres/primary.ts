import { DatabaseError } from 'pg';
import { StoreError } from '../store-error.ts';
import { describeAddress, type PostgresAddress } from './address.ts';
import { unavailable } from './errors.ts';

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

/** Finds the host that writes among those of an address. Remembers it, so that a dead host costs its timeout once. */
export class WritingHost {
  #current = 0;

  /**
   * Tries the hosts in their order, from the last good one on. A host that refuses the sign-in ends the search, as with libpq.
   *
   * @throws StoreError with the reason of each host
   */
  async open<T>(address: PostgresAddress, attempt: (host: PostgresAddress) => Promise<T>): Promise<T> {
    const { hosts } = address;
    if (hosts.length === 1) return attempt(address);
    const first = this.#current;
    const failures: string[] = [];
    for (let step = 0; step < hosts.length; step += 1) {
      const at = (first + step) % hosts.length;
      const host = { ...address, ...hosts[at] };
      try {
        const opened = await attempt(host);
        this.#current = at;
        return opened;
      } catch (error) {
        const mayBeElsewhere =
          error instanceof DatabaseError
            ? error.code === '57P03'
            : error instanceof Error && error.name !== 'ProgramError';
        if (!mayBeElsewhere) throw error;
        failures.push(unavailable(error, describeAddress(host)).message);
      }
    }
    throw new StoreError('unreachable', `no host of the address takes writes: ${failures.join('; ')}`);
  }
}

/**
 * Keeps the sessions of a store at the newest primary that it has seen. An old primary may come back and take writes, which the new one does not
 * have; and connections to it may live on behind a proxy, while new ones go to the new one.
 */
export class NewestPrimary {
  #newest: Primary | undefined;

  /** Closes sessions of an older primary. @throws StoreError if the session itself is one */
  admit({ primary }: Located, others: readonly Located[], where: string): void {
    if (primary === undefined) return;
    const newest = this.#newest;
    if (newest?.system === primary.system && primary.timeline < newest.timeline) {
      throw new StoreError(
        'unreachable',
        `${where} is an old primary: it has timeline ${primary.timeline}, and another one was promoted to ${newest.timeline}. ` +
          'What it takes is lost; stop it, and make it a standby of the new one (pg_rewind)',
      );
    }
    this.#newest = primary;
    for (const other of others) {
      if (other.primary?.system === primary.system && other.primary.timeline < primary.timeline)
        other.connection.close();
    }
  }
}
