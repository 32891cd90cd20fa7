import type { ResourceError } from '../api/resource-error.ts';
import { workloadName } from '../render/render-context.ts';
import type { ResourceRef } from '../contract/workload.ts';
import { notReady, reconciling, stalled, type ConditionUpdate } from './conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { StatusWriter } from './status-writer.ts';
import { withVolumes } from './volume-conditions.ts';
import { clusterRuleConditions, monitoringConditions, workloadStatus } from './workload-conditions.ts';

/** Milliseconds until a conflict is checked again: the operator may get no event when the other object goes. */
export const conflictRetryMs = 30_000;

/** Sets Ready and Stalled to the conflict, keeps the rest of the status, and enqueues the resource again. */
export async function setConflictCondition(
  ref: ResourceRef,
  { code, message }: ResourceError,
  { status, options }: { readonly status: StatusWriter; readonly options: ConflictOptions },
): Promise<void> {
  await putError(ref, [notReady(code, message), stalled(code, message)], status, options);
  options.enqueue(ref, conflictRetryMs);
}

/**
 * Sets Ready and Reconciling to an error that lasts, and keeps the rest of the status. The queue retries. What fails may be the write of a
 * status too: then the error is in the log alone.
 */
export async function setFailureCondition(
  ref: ResourceRef,
  error: unknown,
  { status, options }: { readonly status: StatusWriter; readonly options: ConflictOptions },
): Promise<void> {
  const words = (error instanceof Error ? error.message : String(error)).slice(0, maxMessageLength);
  const [reason, message] = ['ReconcileFailed', `the operator cannot do what the spec says, and tries again: ${words}`];
  try {
    await putError(ref, [notReady(reason, message), reconciling(reason, message)], status, options);
  } catch {
    // The caller reports the first error.
  }
}

/** Characters: a condition holds 32 KiB, and a server may answer a page. */
const maxMessageLength = 2_000;

/** The error tells nothing of the other conditions: those of what runs are observed, and the rest stays. */
async function putError(
  ref: ResourceRef,
  found: readonly ConditionUpdate[],
  status: StatusWriter,
  options: ConflictOptions,
): Promise<void> {
  const hasWorkload = ref.kind === 'Tenant' || ref.kind === 'KMSConfig';
  const running = hasWorkload ? await options.runtime?.observeOne(workloadName(ref)) : undefined;
  if (running === undefined) return status.putBeside(ref, found, [], { rollout: undefined });
  const { conditions } = withVolumes(found, running, options.status.get(ref), options.now());
  await status.putBeside(
    ref,
    [...conditions, ...monitoringConditions(running), ...clusterRuleConditions(running)],
    ['VolumeResizing', 'MonitoringReady', 'ChangedByCluster'],
    { ...workloadStatus(running, running.wanted, undefined, ref), rollout: undefined },
  );
}

/** There is no runtime when the conflict keeps the whole namespace from starting. */
type ConflictOptions = Pick<ReconcilerOptions, 'status' | 'enqueue' | 'now'> &
  Partial<Pick<ReconcilerOptions, 'runtime'>>;
