import { DatabaseError } from 'pg';
import { StoreError } from '../store-error.ts';
import { describeAddress, type PostgresAddress } from '../../../platform/store-address/postgres-address.ts';
import { unavailable } from './errors.ts';

/** Finds the host that writes among those of an address. Remembers it, so that a dead host costs its timeout once. */
export class WritingHost {
  #current = 0;

  /** Lets the next search begin with the next host: this one holds commits back, as an old primary does whose standby was promoted. */
  distrust(): void {
    this.#current += 1;
  }

  /**
   * Tries the hosts in their order, from the last good one on. A host that refuses the sign-in ends the search, as with libpq.
   *
   * @throws StoreError with the reason of each host
   */
  async open<T>(address: PostgresAddress, attempt: (host: PostgresAddress) => Promise<T>): Promise<T> {
    const { hosts } = address;
    if (hosts.length === 1) return attempt(address);
    const first = this.#current % hosts.length;
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
