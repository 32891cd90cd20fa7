import type { LeaseTiming, LeaderElectionOptions } from '../../../kube-client/leader-election.ts';
import { LeaderElection } from '../../../kube-client/leader-election.ts';
import { isEnding } from '../workload/object-writer.ts';

export interface NamespaceLeaseOptions {
  readonly api: LeaderElectionOptions['api'];
  readonly namespace: string;
  /** The same for all replicas of an operator of which one acts, and another for each other operator. */
  readonly identity: string;
  readonly timing?: LeaseTiming | undefined;
  /** Called when `isHeld`, `holder` or `second` changed. */
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
  readonly now: () => Date;
  readonly random: () => number;
}

/** The name differs from that of the Lease by which the replicas of one operator elect their leader. */
const leaseName = 'coffer-namespace';

/** There is a Lease in each namespace with resources, so they are renewed seldom. Replicas of one operator wait for none of this. */
const usual: LeaseTiming = { leaseDurationMs: 120_000, renewDeadlineMs: 80_000, retryMs: 30_000 };

/** Lets one operator act in a namespace: two would replace each other's pods for ever. */
export class NamespaceLease {
  readonly #options: NamespaceLeaseOptions;
  #election: LeaderElection;
  #closed = false;
  #isHeld = false;
  #holder: string | undefined;
  #second: string | undefined;

  constructor(options: NamespaceLeaseOptions) {
    this.#options = options;
    this.#election = this.#elect();
  }

  /** Reports whether this operator may act. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** The operator that acts; undefined while none is known, and when it is this one. */
  get holder(): string | undefined {
    return this.#holder;
  }

  /** An operator that waits while this one acts. */
  get second(): string | undefined {
    return this.#second;
  }

  /** Gives the namespace back. Call it after the last write. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#election.release();
  }

  #elect(): LeaderElection {
    const { api, namespace, identity, timing = usual, now, random } = this.#options;
    const election = new LeaderElection({
      api,
      namespace,
      name: leaseName,
      identity,
      timing,
      now,
      random,
      failed: (error) => this.#failed(error),
      waiting: (holder) => this.#set({ isHeld: false, holder, second: undefined }),
      rival: (second) => this.#set({ isHeld: true, holder: undefined, second }),
      onStoppedLeading: () => {
        this.#set({ isHeld: false, holder: undefined, second: undefined });
        if (!this.#closed) this.#election = this.#elect();
      },
    });
    void election.acquire();
    return election;
  }

  #failed(error: unknown): void {
    // Nothing can be made in a namespace that is being deleted, a Lease included. What waits there for a finalizer is released.
    if (isEnding(error)) this.#set({ isHeld: true, holder: undefined, second: undefined });
    else if (!this.#closed) this.#options.failed(error);
  }

  #set(state: Readonly<Record<'holder' | 'second', string | undefined>> & { readonly isHeld: boolean }): void {
    if (this.#closed) return;
    const { isHeld, holder, second } = state;
    if (isHeld === this.#isHeld && holder === this.#holder && second === this.#second) return;
    this.#isHeld = isHeld;
    this.#holder = holder;
    this.#second = second;
    this.#options.changed();
  }
}
