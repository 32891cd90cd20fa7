import type { ThreadStores } from './thread-stores.ts';
import type { Readiness } from './answer-health.ts';
import { starting, type Waiting } from './wait-for-dependencies.ts';

/** Milliseconds that the record store may be away while the server stays ready. */
const maxOutageMs = 5_000;

/** The state of an HTTP thread, from its start to its stop. */
export class ThreadReadiness {
  readonly #stores: Pick<ThreadStores, 'shared' | 'outage'>;
  #state: Readiness = { kind: 'waiting', ...starting };
  /** The fault of a store that still answers: a request that writes nothing is served. */
  storeFault: Waiting | undefined;

  constructor(stores: Pick<ThreadStores, 'shared' | 'outage'>) {
    this.#stores = stores;
  }

  /** A ready server becomes unready when its record store is away for longer than a restart of the store takes. */
  now(): Readiness {
    if (this.#state.kind !== 'ready') return this.#state;
    // Records in a folder are never away.
    const outage = this.#stores.shared ? this.#stores.outage() : undefined;
    if (outage !== undefined && outage.forMs >= maxOutageMs)
      return { kind: 'waiting', waitsFor: 'database', reason: outage.reason };
    return this.storeFault === undefined ? this.#state : { kind: 'impaired', ...this.storeFault };
  }

  /** Says what a thread that serves nothing yet waits for. */
  wait({ waitsFor, reason }: Waiting): void {
    if (this.#state.kind === 'waiting') this.#state = { kind: 'waiting', waitsFor, reason };
  }

  /** Serves requests, and is not ready yet. */
  serve(): void {
    if (this.#state.kind === 'waiting') this.#state = { kind: 'serving' };
  }

  announce(): void {
    if (this.#state.kind === 'serving') this.#state = { kind: 'ready' };
  }

  stop(): void {
    if (this.#state.kind === 'ready' || this.#state.kind === 'serving') this.#state = { kind: 'stopping' };
  }

  refuse(): void {
    this.#state = { kind: 'refusing' };
  }
}
