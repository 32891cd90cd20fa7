import type { Condition } from '../api/object.ts';
import type { ResourceRef } from '../contract/workload.ts';
import {
  besideConditions,
  mergeConditions,
  type ConditionType,
  type ConditionUpdate,
  type ResourceStatus,
} from './conditions.ts';
import type { OperatorEvent, ReconcilerOptions } from './reconciler-options.ts';
import { blockerReasons, type BlockerReason } from './rollout.ts';

type StatusWriterOptions = Pick<ReconcilerOptions, 'status' | 'event' | 'counters' | 'namespaceConditions' | 'now'>;

/** Merges the conditions of a reconcile into the status, and records an event when Ready or a blocker changes. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  async put(ref: ResourceRef, updates: readonly ConditionUpdate[], more: Partial<ResourceStatus>): Promise<void> {
    const { generation, conditions } = this.#merged(ref, updates);
    await this.#write(ref, conditions, more, generation);
  }

  /**
   * Sets the conditions that an incomplete reconcile knows, and leaves the others as they are. `observed` are types that it looked at beside those
   * in `updates`: such a condition is gone. Without an update of Ready the status is still that of the generation before.
   */
  async putBeside(
    ref: ResourceRef,
    updates: readonly ConditionUpdate[],
    observed: readonly ConditionType[],
    more: Partial<ResourceStatus>,
  ): Promise<void> {
    const known = this.#options.status.get(ref);
    const { generation, conditions } = this.#merged(ref, updates);
    const { observedGeneration = 0, conditions: before = [], ...rest } = known ?? {};
    await this.#write(
      ref,
      besideConditions(before, conditions, [...observed, ...ofNamespace]),
      { ...rest, ...more },
      updates.some(({ type }) => type === 'Ready') ? generation : observedGeneration,
    );
  }

  #merged(ref: ResourceRef, updates: readonly ConditionUpdate[]) {
    const { status, now, namespaceConditions } = this.#options;
    const generation = status.generation(ref);
    const before = status.get(ref)?.conditions ?? [];
    const all = [...updates, ...(namespaceConditions?.() ?? [])];
    return { generation, conditions: mergeConditions(before, all, generation, now()) };
  }

  async #write(
    ref: ResourceRef,
    conditions: readonly Condition[],
    more: Partial<ResourceStatus>,
    observedGeneration: number,
  ): Promise<void> {
    const { status, event } = this.#options;
    const known = status.get(ref);
    const before = known?.conditions ?? [];
    const news = readyEvent(before, conditions);
    if (news !== undefined) event({ ref, ...news });
    this.#reportBlocked(ref, before, conditions);
    // The key service that encrypts the data of a tenant, its keys, its deployment and the tiers that it added stay in the status even when
    // the reconcile does not know them.
    const kept = {
      ...(known?.keyService === undefined ? {} : { keyService: known.keyService }),
      ...(known?.tiers === undefined ? {} : { tiers: known.tiers }),
      ...(known?.keys === undefined ? {} : { keys: known.keys }),
      ...(known?.deployment === undefined ? {} : { deployment: known.deployment }),
    };
    await status.put(ref, { ...kept, ...more, observedGeneration, conditions });
  }

  /** Reports each new blocker once, not in each reconcile. */
  #reportBlocked(ref: ResourceRef, before: readonly Condition[], after: readonly Condition[]): void {
    const old = before.find(({ type }) => type === 'RolloutBlocked');
    const now = after.find(({ type }) => type === 'RolloutBlocked');
    if (now === undefined || old?.reason === now.reason) return;
    const { event, counters } = this.#options;
    event({ ref, type: 'Warning', reason: now.reason, message: `restart is held up: ${now.message}` });
    if (isBlocker(now.reason)) counters?.blocked(now.reason);
  }
}

/** The conditions of `namespaceConditions`, which every status has or lacks. */
const ofNamespace: readonly ConditionType[] = ['OtherOperator'];

function isBlocker(reason: string): reason is BlockerReason {
  return (blockerReasons as readonly string[]).includes(reason);
}

/** Returns the event of a changed Ready condition. Steps of a rollout have events of their own. */
function readyEvent(
  before: readonly Condition[],
  after: readonly Condition[],
): Pick<OperatorEvent, 'type' | 'reason' | 'message'> | undefined {
  const old = before.find(({ type }) => type === 'Ready');
  const now = after.find(({ type }) => type === 'Ready');
  if (now === undefined || (old?.status === now.status && old.reason === now.reason && old.message === now.message)) {
    return undefined;
  }
  if (now.status === 'True') {
    return old?.status === 'True' ? undefined : { type: 'Normal', reason: now.reason, message: now.message };
  }
  if (now.status === 'Unknown' || quiet.has(now.reason)) return undefined;
  return { type: 'Warning', reason: now.reason, message: now.message };
}

const quiet = new Set(['Starting', 'NotStarted', 'Hibernating', 'CertificateMissing']);
