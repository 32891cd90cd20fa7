import type { Condition } from '../api/object.ts';
import type { ResourceRef } from '../runtime/contract/workload.ts';
import { mergeConditions, type ConditionUpdate, type ResourceStatus } from './conditions.ts';
import type { OperatorEvent, ReconcilerOptions } from './reconciler-options.ts';
import { blockerReasons, type BlockerReason } from './rollout.ts';

export type StatusWriterOptions = Pick<
  ReconcilerOptions,
  'status' | 'event' | 'counters' | 'namespaceConditions' | 'now'
>;

/** Merges the conditions of a reconcile into the status, and records an event when Ready or a blocker changes. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  async put(ref: ResourceRef, updates: readonly ConditionUpdate[], more: Partial<ResourceStatus>): Promise<void> {
    const { status, event, now } = this.#options;
    const known = status.get(ref);
    const before = known?.conditions ?? [];
    const generation = status.generation(ref);
    const all = [...updates, ...(this.#options.namespaceConditions?.() ?? [])];
    const conditions = mergeConditions(before, all, generation, now());
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
    await status.put(ref, { ...kept, ...more, observedGeneration: generation, conditions });
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

function isBlocker(reason: string): reason is BlockerReason {
  return (blockerReasons as readonly string[]).includes(reason);
}

/** Answers the event of a changed Ready condition. Steps of a rollout have events of their own. */
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
