import { pause } from '../../platform/async/backoff.ts';
import { isNotFound, KubeError, type KubeObject } from './kube-api.ts';
import type { KubeClient } from './kube-client.ts';
import { leaseSpec, microTime, readLease, type LeaseRecord } from './lease-record.ts';
import { resourceTypes } from './resource-types.ts';

export interface LeaderElectionOptions {
  /** A client with a timeout well below `renewDeadlineMs`. */
  readonly api: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly namespace: string;
  readonly name: string;
  /** Unique among all candidates: the name of the pod. */
  readonly identity: string;
  /**
   * Called when the lease was not renewed in time or another candidate took it. Another process may lead now, so the callee must end
   * this process without another write.
   */
  readonly onStoppedLeading: (message: string) => void;
  /** Called when an attempt fails. It is repeated. */
  readonly failed: (error: unknown) => void;
  /** Called at each attempt that finds the lease with another process. */
  readonly waiting?: (holder: string) => void;
  /**
   * Called at each renewal with the candidate that waits for the lease; undefined when there is none. With it, candidates write their identity
   * into an annotation of the lease.
   */
  readonly rival?: (identity: string | undefined) => void;
  readonly timing?: LeaseTiming;
  readonly now: () => Date;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic?: () => number;
  readonly random: () => number;
}

/** Milliseconds. */
export interface LeaseTiming {
  /** Other candidates wait this long after the last renewal that they saw. */
  readonly leaseDurationMs: number;
  /** The leader gives up this long after its last renewal, before others may take over. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** Milliseconds until a candidate tries again after a failure, at most: only a lease that is held is worth a longer wait. */
const failureRetryMs = 1_000;

/** The annotation of a Lease with the identity of a candidate and the time at which the candidate wrote it. */
const candidateAnnotation = 'coffer.dev/waiting-operator';

const usual: LeaseTiming = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** Elects one of several processes as the leader: the one that keeps a Lease renewed. */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #timing: LeaseTiming;
  readonly #end = new AbortController();
  #lease: KubeObject | undefined;
  /** The last record of the holder, and the time of this process's clock when it was seen. */
  #seen: { readonly record: LeaseRecord; readonly at: number } | undefined;
  /** The last annotation of a candidate, and the time of this process's clock when it was seen. */
  #announced: { readonly text: string; readonly at: number } | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #state: 'waiting' | 'leading' | 'ended' = 'waiting';
  #renewing: Promise<void> = Promise.resolve();

  /** Errors with a RangeError when the timing would allow two leaders at once. */
  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timing = options.timing ?? usual;
    const { leaseDurationMs, renewDeadlineMs, retryMs } = this.#timing;
    if (!(retryMs < renewDeadlineMs && renewDeadlineMs < leaseDurationMs)) {
      throw new RangeError('a lease needs retry < renew deadline < duration');
    }
  }

  get leads(): boolean {
    return this.#state === 'leading';
  }

  /** Resolves with true once this process leads, and with false when `release` came first. */
  async acquire(): Promise<boolean> {
    while (this.#state === 'waiting') {
      const outcome = await this.#attempt();
      if (outcome === 'held') {
        // `release` may have been called while the lease was being taken. Then the lease is given back.
        if (this.#ended()) await this.#giveBack();
        else {
          this.#state = 'leading';
          this.#renewing = this.#renew();
          return true;
        }
      }
      await this.#pause(outcome === 'failed' ? failureRetryMs : Infinity);
    }
    return false;
  }

  /** Ends the candidacy. A lease that this process holds is free at once. Call it after the last write. */
  async release(): Promise<void> {
    const led = this.#state === 'leading';
    this.#state = 'ended';
    this.#end.abort();
    clearTimeout(this.#deadline);
    await this.#renewing;
    if (led) await this.#giveBack();
  }

  async #renew(): Promise<void> {
    while (this.#state === 'leading') {
      await this.#pause();
      if (this.#state === 'leading' && (await this.#attempt()) === 'other') {
        this.#lose(`${this.#seen?.record.holder ?? 'another'} leads now`);
      }
    }
  }

  /** Tries once to take or renew the lease. Never errors. */
  async #attempt(): Promise<'held' | 'other' | 'failed'> {
    const { identity, failed, waiting } = this.#options;
    try {
      // The leader knows what it wrote. If another process has written since, the version shows it.
      const current = this.#state === 'leading' ? this.#lease : await this.#read();
      const record = current && readLease(current);
      if (current !== undefined && record !== undefined && record.holder !== identity && this.#isHeld(record)) {
        waiting?.(record.holder);
        await this.#announce(current);
        return 'other';
      }
      await this.#hold(current, record);
      return 'held';
    } catch (error) {
      // The lease was deleted. The next attempt makes it again, unless another process does so first.
      if (isNotFound(error)) this.#lease = undefined;
      if (error instanceof KubeError && (error.reason === 'Conflict' || error.reason === 'AlreadyExists')) {
        return this.#afterConflict();
      }
      failed(error);
      return 'failed';
    }
  }

  async #hold(current: KubeObject | undefined, record: LeaseRecord | undefined): Promise<void> {
    const { identity, now, rival: report } = this.#options;
    const began = this.#monotonic();
    const time = microTime(now());
    const renews = record?.holder === identity;
    const candidate = this.#candidateOf(current);
    const rival = candidate === identity ? undefined : candidate;
    this.#lease = await this.#write(withoutCandidate(current, rival), {
      holder: identity,
      durationMs: this.#timing.leaseDurationMs,
      renewTime: time,
      acquireTime: renews ? record.acquireTime || time : time,
      transitions: record === undefined ? 0 : record.transitions + (renews ? 0 : 1),
    });
    this.#startDeadline(began);
    report?.(rival);
  }

  /** The lease changed: by another candidate, or by this process in a call whose answer was lost. */
  async #afterConflict(): Promise<'other' | 'failed'> {
    try {
      this.#lease = await this.#read();
    } catch (error) {
      this.#options.failed(error);
      return 'failed';
    }
    const record = this.#lease && readLease(this.#lease);
    if (record === undefined) return 'failed';
    this.#isHeld(record);
    return record.holder === this.#options.identity ? 'failed' : 'other';
  }

  /** Writes the identity of this candidate into the lease of another, often enough that the other does not count it as gone. */
  async #announce(current: KubeObject): Promise<void> {
    const { identity, api, now, rival } = this.#options;
    if (rival === undefined) return;
    const there = this.#candidateOf(current);
    const age = this.#monotonic() - (this.#announced?.at ?? 0);
    if (there !== undefined && (there !== identity || age < this.#timing.leaseDurationMs / 2)) return;
    const { apiVersion, kind } = resourceTypes.lease;
    const annotations = { ...current.metadata.annotations, [candidateAnnotation]: `${identity} ${microTime(now())}` };
    await api.replace({ ...current, apiVersion, kind, metadata: { ...current.metadata, annotations } });
  }

  /** Returns the candidate that the annotation names; undefined at the leader when the annotation did not change for long. */
  #candidateOf(lease: KubeObject | undefined): string | undefined {
    const text = lease?.metadata.annotations?.[candidateAnnotation];
    const at = this.#monotonic();
    if (text === undefined) {
      this.#announced = undefined;
      return undefined;
    }
    if (this.#announced?.text !== text) this.#announced = { text, at };
    const [identity = ''] = text.split(' ');
    if (this.#state === 'waiting') return identity;
    return at - this.#announced.at < this.#timing.leaseDurationMs ? identity : undefined;
  }

  /** Reports whether another's lease is still valid, by the time since this process saw it change. */
  #isHeld(record: LeaseRecord): boolean {
    const at = this.#monotonic();
    const seen = this.#seen?.record;
    if (seen?.holder !== record.holder || seen.renewTime !== record.renewTime) this.#seen = { record, at };
    return record.holder !== '' && at - (this.#seen?.at ?? at) < record.durationMs;
  }

  #startDeadline(began: number): void {
    clearTimeout(this.#deadline);
    if (this.#ended()) return;
    const { renewDeadlineMs } = this.#timing;
    this.#deadline = setTimeout(
      () => this.#lose(`the lease was not renewed for ${renewDeadlineMs} ms`),
      renewDeadlineMs - (this.#monotonic() - began),
    );
  }

  #lose(message: string): void {
    if (this.#state !== 'leading') return;
    this.#state = 'ended';
    this.#end.abort();
    clearTimeout(this.#deadline);
    this.#options.onStoppedLeading(message);
  }

  async #giveBack(): Promise<void> {
    clearTimeout(this.#deadline);
    try {
      await this.#free();
    } catch (error) {
      if (!(error instanceof KubeError && error.reason === 'Conflict')) return this.#options.failed(error);
      // A candidate wrote its name into the lease.
      try {
        this.#lease = await this.#read();
        await this.#free();
      } catch (again) {
        this.#options.failed(again);
      }
    }
  }

  async #free(): Promise<void> {
    const record = this.#lease && readLease(this.#lease);
    if (record?.holder !== this.#options.identity) return;
    const renewTime = microTime(this.#options.now());
    // The API server requires a duration. Another candidate takes over at once.
    await this.#write(this.#lease, { ...record, holder: '', durationMs: 1_000, renewTime });
  }

  #read(): Promise<KubeObject | undefined> {
    const { api, namespace, name } = this.#options;
    return api.get(resourceTypes.lease, namespace, name);
  }

  #write(current: KubeObject | undefined, record: LeaseRecord): Promise<KubeObject> {
    const { api, namespace, name } = this.#options;
    const { apiVersion, kind } = resourceTypes.lease;
    const spec = leaseSpec(record);
    if (current !== undefined) return api.replace({ ...current, apiVersion, kind, spec });
    return api.create({ apiVersion, kind, metadata: { namespace, name }, spec });
  }

  async #pause(maxMs = Infinity): Promise<void> {
    // The random part spreads candidates that start together.
    const delay = Math.min(this.#timing.retryMs, maxMs) * (this.leads ? 1 : 1 + this.#options.random() / 5);
    await pause(delay, this.#end.signal);
  }

  /** `release` may be called while something is awaited. */
  #ended(): boolean {
    return this.#state === 'ended';
  }

  #monotonic(): number {
    return this.#options.monotonic?.() ?? performance.now();
  }
}

/** Returns the lease without the annotation of a candidate that is gone or leads now. */
function withoutCandidate(lease: KubeObject | undefined, rival: string | undefined): KubeObject | undefined {
  if (rival !== undefined || lease?.metadata.annotations?.[candidateAnnotation] === undefined) return lease;
  const { [candidateAnnotation]: _gone, ...annotations } = lease.metadata.annotations;
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}
