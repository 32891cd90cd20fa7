import type { Secret } from '../contract/secret.ts';
import type { RunningWorkload } from '../contract/runtime.ts';
import type { Workload } from '../contract/workload.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import {
  restartReasons,
  type Restart,
  isInMidRollout,
  isSettled,
  nextStep,
  type RolloutStep,
  type RolloutContext,
} from './rollout.ts';
import { KeystoreChecks } from './keystore-checks.ts';
import { workloadOwner } from '../render/render-context.ts';

/** The state of a workload after its next step. */
export interface RolloutProgress {
  readonly step: RolloutStep;
  readonly running: RunningWorkload | undefined;
}

interface RolloutInput extends Pick<RolloutContext, 'paused' | 'unsettled'> {
  /** Called before the objects of a workload that does not run are made. */
  readonly beforeStart?: () => Promise<void>;
}

/** Milliseconds until a blocker is checked again. The end of most blockers is an event; that of a store is not. */
const recheckMs = { store: 5_000, other: 30_000 } as const;

/** Takes the steps that `nextStep` decides, one instance in each reconcile, within the limit of the fleet. */
export class Rollouts {
  readonly #options: ReconcilerOptions;
  readonly #checks: KeystoreChecks;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#checks = new KeystoreChecks(options);
  }

  /** Lets workloads that are found in mid-rollout take their places before any other begins. */
  adopt(running: readonly RunningWorkload[]): void {
    for (const workload of running) {
      const owner = workloadOwner(workload.name);
      if (owner !== undefined && isInMidRollout(workload, owner)) {
        this.#options.rolloutLimit.take(this.#key(workload.name));
      }
    }
  }

  async advance(
    desired: Workload,
    secrets: ReadonlyMap<string, Secret>,
    { beforeStart, ...input }: RolloutInput,
  ): Promise<RolloutProgress> {
    const { runtime, rolloutLimit } = this.#options;
    let running = await runtime.observeOne(desired.name);
    const found = input.paused ? [] : await runtime.foundVolumes(desired);
    const unproven = input.paused ? undefined : this.#checks.whyUnproven(desired, running, secrets, found);
    const context: RolloutContext = { ...input, unproven, store: undefined, mayRoll: true };
    let step = nextStep(desired, running, context);
    if (step.kind === 'start' || step.kind === 'update') {
      if (step.kind === 'start') await beforeStart?.();
      await runtime.apply(desired, secrets, found);
      const taken = step;
      running = await runtime.observeOne(desired.name);
      // An update that the API server refused starts nothing, and is not a restart.
      if (isRecorded(desired, running)) this.#report(desired, taken);
      step = nextStep(desired, running, context);
    } else if (running !== undefined) {
      // The configuration reloads, and an instance that ends by itself would come back with what is not proven.
      const isKept = step.kind === 'leave' || (step.kind === 'wait' && step.blocker.reason === 'KeystoreNotProven');
      await (isKept ? runtime.renew(desired, secrets) : runtime.refresh(desired, secrets, found));
    }
    if (step.kind === 'replace' && running !== undefined) {
      step = await this.#replace(desired, running, step, context);
    }
    running = await runtime.observeOne(desired.name);
    if (isSettled(desired, running)) rolloutLimit.release(this.#key(desired.name));
    this.#enqueueBlocked(desired, step);
    return { step, running };
  }

  /** Ignores the results of checks that are under way. */
  close(): void {
    this.#checks.close();
  }

  /** Frees the place of a workload that is gone. */
  release(workload: string): void {
    this.#options.rolloutLimit.release(this.#key(workload));
  }

  async #replace(
    desired: Workload,
    running: RunningWorkload,
    step: Extract<RolloutStep, { kind: 'replace' }>,
    context: RolloutContext,
  ): Promise<RolloutStep> {
    const { runtime, rolloutLimit, event } = this.#options;
    const { alongside, shared = '' } = step;
    const names = [step.instance, ...(alongside ?? [])].map(({ name }) => name);
    // An instance that is not ready serves no client: it needs no place and no healthy store.
    if (step.instance.state.kind === 'ready' || names.length > 1) {
      // A replacement of all at once leaves no server running anyway.
      const several = running.wanted > 1 && alongside === undefined;
      const store = several && this.#mayRoll(desired) ? await runtime.storeHealth(desired.name) : undefined;
      // Decide after the last await, so that no other workload takes the place in between.
      const decided = nextStep(desired, running, { ...context, store, mayRoll: this.#mayRoll(desired) });
      if (decided.kind !== 'replace') return decided;
      rolloutLimit.take(this.#key(desired.name));
    }
    if (running.wanted > 1) {
      const why = alongside === undefined ? '' : ` at once, since all servers of a store must share ${shared}`;
      event({ ref: desired.owner, type: 'Normal', reason: 'Replacing', message: `replaces ${names.join(', ')}${why}` });
    }
    // One that stays keeps the others from joining, so that all are tried before an error ends this.
    const results = await Promise.allSettled(names.map((name) => runtime.replace(desired.name, name)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return step;
  }

  #mayRoll({ name, owner }: Workload): boolean {
    return this.#options.rolloutLimit.mayTake(this.#key(name), () => this.#options.enqueue(owner, 0));
  }

  #report({ name, owner }: Workload, step: Extract<RolloutStep, { kind: 'start' | 'update' }>): void {
    const { event, counters } = this.#options;
    if (step.kind === 'start') {
      event({ ref: owner, type: 'Normal', reason: 'Starting', message: `starts ${name}` });
      return;
    }
    for (const { reason, field } of step.restarts) {
      event({ ref: owner, type: 'Normal', reason, message: `restarts for ${field}` });
    }
    for (const reason of reasonsOf(step.restarts)) counters?.rollout(reason);
  }

  #enqueueBlocked({ owner }: Workload, step: RolloutStep): void {
    if (step.kind !== 'wait') return;
    const { store, other } = recheckMs;
    this.#options.enqueue(owner, step.blocker.reason === 'StoreNotHealthy' ? store : other);
  }

  #key(workload: string): string {
    return `${this.#options.namespace}/${workload}`;
  }
}

function isRecorded(desired: Workload, running: RunningWorkload | undefined): boolean {
  return running !== undefined && restartReasons(running.inputs, desired.inputs, desired.owner).length === 0;
}

function reasonsOf(restarts: readonly Restart[]): ReadonlySet<Restart['reason']> {
  return new Set(restarts.map(({ reason }) => reason));
}
