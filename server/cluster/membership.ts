import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/output/logger.ts';
import type { RecordStore } from '../store/record-store.ts';
import { soleLease } from './lease.ts';
import type { Lease } from './lease.ts';
import { repeated } from './repeated.ts';
import type { Repeated } from './repeated.ts';
import { leaseTimes, BackgroundLease } from './background-lease.ts';
import { registryTimes, ServerRegistry } from './server-registry.ts';
import type { ServerFacts } from './server-registry.ts';

/** The state of this server among the others. */
export interface ClusterView {
  /** True if this server does the background work. */
  readonly leads: boolean;
  /** The live servers, including this one. */
  readonly live: readonly ServerFacts[];
}

/** Returns the live servers but the one with this name. */
export function othersThan(id: string, { live }: ClusterView): readonly ServerFacts[] {
  return live.filter((one) => one.id !== id);
}

/** The membership of this server among those that share its record store. */
export interface Membership {
  /** The lease of the background work. */
  readonly lease: Lease;
  /** Publishes this server. Throws `StoreError`, and `ProgramError` while a live server has other settings; may be repeated. */
  join(facts: ServerFacts): Promise<void>;
  /**
   * Returns the other live servers before this one, whose facts are passed, joins. Servers that were killed count as live until they were seen
   * without a change for some seconds, so the caller asks again. Throws `StoreError`.
   */
  others(facts: ServerFacts): Promise<readonly ServerFacts[]>;
  /** Allows this server to take the lease. */
  work(): Promise<void>;
  view(): ClusterView;
  /** Returns the live servers, including this one, and those that ended in the last minutes without removing their record. */
  members(): readonly ServerFacts[];
  /** Releases the lease, so that another server begins while the last requests end here. */
  endWork(): Promise<void>;
  /**
   * Removes this server from the list. The others write no format that a server in the list cannot read, so the caller waits until the last request
   * has ended.
   */
  close(): Promise<void>;
}

/** The membership of a server that does not share its record store. */
export function soleMembership(onChange: (view: ClusterView) => void): Membership {
  const lease = soleLease();
  let live: readonly ServerFacts[] = [];
  const view = () => ({ leads: lease.hold() !== undefined, live });
  return {
    lease,
    view,
    members: () => live,
    join(facts) {
      live = [facts];
      return Promise.resolve();
    },
    others: () => Promise.resolve([]),
    work() {
      onChange(view());
      return Promise.resolve();
    },
    endWork: () => lease.close(),
    close: () => Promise.resolve(),
  };
}

/** A stop waits this many milliseconds for the store. */
const gracePeriod = 2_000;

interface MembershipOptions {
  readonly records: RecordStore;
  /** The id of this process, which no other process ever has. */
  readonly server: string;
  readonly random: (size: number) => Buffer;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  readonly log: Logger;
  /** Called every few seconds. */
  readonly onChange: (view: ClusterView) => void;
}

export function sharedMembership(options: MembershipOptions): Membership {
  const { records, server, random, clock, log } = options;
  let leaseBeat: Repeated | undefined;
  let registryBeat: Repeated | undefined;
  let own: ServerFacts | undefined;
  let registry: ServerRegistry | undefined;
  const view = () => ({ leads: lease.hold() !== undefined, live: registry?.live() ?? [] });
  const changed = () => options.onChange(view());
  const lease = new BackgroundLease({
    records,
    name: 'background',
    server,
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
  const release = async () => {
    await leaseBeat?.stop();
    await lease.close();
  };
  const leave = async () => {
    await registryBeat?.stop();
    await registry?.close();
  };
  // An unavailable store must not delay the stop. The other servers then wait until the lease has expired, or this server counts as gone.
  const unlessAway = (work: Promise<void>) =>
    Promise.race([work.catch(onError), sleep(gracePeriod, undefined, { ref: false })]);
  const registryOf = (facts: ServerFacts) => {
    own = facts;
    registry ??= new ServerRegistry({
      records,
      random,
      clock,
      own: () => own ?? facts,
      onDoubt: (message) =>
        log.warn({ event: 'other-settings' }, `${message}; this server waits up to 15 s, in case that one was killed`),
    });
    return registry;
  };
  return {
    lease,
    view,
    members: () => registry?.members() ?? [],
    others: (facts) => registryOf(facts).others(),
    async join(facts) {
      await registryOf(facts).join();
      changed();
      if (registryBeat !== undefined) return;
      const step = async () => {
        await registry?.step();
        changed();
      };
      registryBeat = repeated(registryTimes.every, step, onError);
    },
    work() {
      leaseBeat = repeated(leaseTimes.every, () => lease.step(), onError);
      return leaseBeat.now();
    },
    endWork: () => unlessAway(release()),
    close: () => unlessAway(leave()),
  };
}
