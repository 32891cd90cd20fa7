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

/** The state of this server among the others. */
export interface ReplicasView {
  /** True if this server does the background work. */
  readonly leads: boolean;
  /** The live servers, including this one. */
  readonly live: readonly ReplicaFacts[];
}

/** Returns the live servers but the one with this name. */
export function othersThan(id: string, { live }: ReplicasView): readonly ReplicaFacts[] {
  return live.filter((one) => one.id !== id);
}

/** The membership of this server among those that share its record store. */
export interface Replicas {
  /** The lease of the background work. */
  readonly lease: Lease;
  /** Publishes this server. Throws `StoreError`, and `ProgramError` while a live server has other settings; may be repeated. */
  join(facts: ReplicaFacts): Promise<void>;
  /** Allows this server to take the lease. */
  work(): Promise<void>;
  view(): ReplicasView;
  /** Releases the lease and removes this server from the list. */
  close(): Promise<void>;
}

/** The membership of a server that does not share its record store. */
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

/** A stop waits this many milliseconds for the store. */
const gracePeriod = 2_000;

export interface ReplicasOptions {
  readonly records: RecordStore;
  /** The id of this process, which no other process ever has. */
  readonly replica: string;
  readonly random: (size: number) => Buffer;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  readonly log: Logger;
  /** Called every few seconds. */
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
  // The store has failed, which other code reports. The next beat tries again.
  const onError = (error: unknown) => log.debug({ err: error }, 'the membership of this server could not be updated');
  const leave = async () => {
    await Promise.all(beats.map((beat) => beat.stop()));
    await Promise.allSettled([lease.close(), registry?.close()]);
  };
  return {
    lease,
    view,
    async join(facts) {
      own = facts;
      registry ??= new ReplicaRegistry({
        records,
        random,
        clock,
        own: () => own ?? facts,
        onDoubt: (message) =>
          log.warn(
            { event: 'other-settings' },
            `${message}; this server waits up to 15 s, in case that one was killed`,
          ),
      });
      await registry.join();
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
      // An unavailable store must not delay the stop. The other servers then wait until this one counts as gone.
      await Promise.race([leave(), sleep(gracePeriod, undefined, { ref: false })]);
    },
  };
}
