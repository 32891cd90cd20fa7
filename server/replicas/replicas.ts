import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/logger.ts';
import type { RecordStore } from '../store/record-store.ts';
import { soleLease } from './lease.ts';
import type { Lease } from './lease.ts';
import { repeated } from './repeated.ts';
import type { Repeated } from './repeated.ts';
import { leaseTimes, ReplicaLease } from './replica-lease.ts';
import { registryTimes, ReplicaRegistry } from './replica-registry.ts';
import type { ReplicaFacts } from './replica-registry.ts';

/** What a server knows of the others, and they of it. */
export interface ReplicasView {
  /** Whether this server does the background work. */
  readonly leads: boolean;
  /** This server among them. */
  readonly live: readonly ReplicaFacts[];
}

/** This server among those that share its record store. */
export interface Replicas {
  /** Of the background work. */
  readonly lease: Lease;
  /** Tells the others of this server. Throws `StoreUnavailable`; may be repeated. */
  join(facts: ReplicaFacts): Promise<void>;
  /** From now on the lease may be taken. */
  work(): Promise<void>;
  view(): ReplicasView;
  /** Gives the lease up and tells the others. */
  close(): Promise<void>;
}

/** Where the record store is this server's alone. */
export function onlyReplica(onChange: (view: ReplicasView) => void): Replicas {
  const lease = soleLease();
  let live: readonly ReplicaFacts[] = [];
  const view = () => ({ leads: lease.hold() !== undefined, live });
  return {
    lease,
    view,
    join(facts) {
      live = [facts];
      return Promise.resolve();
    },
    work() {
      onChange(view());
      return Promise.resolve();
    },
    close: () => lease.close(),
  };
}

/** Milliseconds that a stop takes to say goodbye. */
const patience = 2_000;

export interface ReplicasOptions {
  readonly records: RecordStore;
  /** Of this process, and no other ever. */
  readonly replica: string;
  readonly random: (size: number) => Buffer;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly log: Logger;
  /** Told every few seconds. */
  readonly onChange: (view: ReplicasView) => void;
}

export function sharedReplicas(options: ReplicasOptions): Replicas {
  const { records, replica, random, clock, log } = options;
  const beats: Repeated[] = [];
  let own: ReplicaFacts | undefined;
  let registry: ReplicaRegistry | undefined;
  const view = () => ({ leads: lease.hold() !== undefined, live: registry?.live() ?? [] });
  const changed = () => options.onChange(view());
  const lease = new ReplicaLease({
    records,
    name: 'background',
    replica,
    random,
    clock,
    onChange(hold) {
      log.info(
        hold === undefined ? { event: 'background-work-ended' } : { event: 'background-work', term: hold.generation },
        hold === undefined ? 'another server may do the background work now' : 'this server does the background work',
      );
      changed();
    },
  });
  // What fails is the store, of which others tell; it is tried again soon.
  const onError = (error: unknown) => log.debug({ err: error }, 'the other servers could not be told of this one');
  const farewell = async () => {
    await Promise.all(beats.map((beat) => beat.stop()));
    await Promise.allSettled([lease.close(), registry?.close()]);
  };
  return {
    lease,
    view,
    async join(facts) {
      own = facts;
      registry ??= new ReplicaRegistry({ records, random, clock, own: () => own ?? facts });
      await registry.step();
      changed();
      if (beats.length > 0) return;
      const step = async () => {
        await registry?.step();
        changed();
      };
      beats.push(repeated(registryTimes.every, step, onError));
    },
    work() {
      const beat = repeated(leaseTimes.every, () => lease.step(), onError);
      beats.push(beat);
      return beat.now();
    },
    async close() {
      // A store that is away must not hold the stop up: the others find out by themselves.
      await Promise.race([farewell(), sleep(patience, undefined, { ref: false })]);
    },
  };
}
