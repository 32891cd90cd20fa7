import type { ResourceError } from '../api/resource-error.ts';
import { workloadName } from '../render/render-context.ts';
import type { ResourceRef } from '../runtime/contract/workload.ts';
import { notReady, stalled, type ResourceStatus } from './conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { StatusWriter } from './status-writer.ts';
import { workloadStatus } from './workload-conditions.ts';

/** Milliseconds until a conflict is checked again: the operator may get no event when the other object goes. */
export const conflictRetryMs = 30_000;

/** Sets Ready and Stalled to the conflict, keeps the rest of the status, and enqueues the resource again. */
export async function setConflictCondition(
  ref: ResourceRef,
  { code, message }: ResourceError,
  { status, options }: { readonly status: StatusWriter; readonly options: ConflictOptions },
): Promise<void> {
  const { rollout: _, ...known }: Partial<ResourceStatus> = options.status.get(ref) ?? {};
  const hasWorkload = ref.kind === 'Tenant' || ref.kind === 'KMSConfig';
  const running = hasWorkload ? await options.runtime?.observeOne(workloadName(ref)) : undefined;
  const seen = running === undefined ? {} : workloadStatus(running, running.wanted, undefined, ref);
  await status.put(ref, [notReady(code, message), stalled(code, message)], { ...known, ...seen });
  options.enqueue(ref, conflictRetryMs);
}

/** There is no runtime when the conflict keeps the whole namespace from starting. */
type ConflictOptions = Pick<ReconcilerOptions, 'status' | 'enqueue'> & Partial<Pick<ReconcilerOptions, 'runtime'>>;
