import { workloadName } from '../render/render-context.ts';
import type { ResourceRef } from '../runtime/contract/workload.ts';
import { notReady, stalled, type ResourceStatus } from './conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { StatusWriter } from './status-writer.ts';
import { workloadStatus } from './workload-conditions.ts';

/** Something of a name that the operator needs belongs to somebody else; the message is for people, and says what to do. */
export class ForeignObject extends Error {
  override readonly name: string = 'ForeignObject';
  /** Of the condition. */
  readonly reason: 'Conflict' | 'ObjectRefused' = 'Conflict';
}

/** The API server takes an object as little as it took it the time before: only a person can change what it is made from. */
export class RefusedObject extends ForeignObject {
  override readonly name = 'RefusedObject';
  override readonly reason = 'ObjectRefused';
}

/** Milliseconds: what is in the way is not the operator's own, so that nothing may tell when it goes. */
export const conflictRetryMs = 30_000;

/** Says of a resource what is in its way, beside what was known of it before, and looks again later. */
export async function setConflictCondition(
  ref: ResourceRef,
  { reason, message }: ForeignObject,
  { status, options }: { readonly status: StatusWriter; readonly options: ConflictOptions },
): Promise<void> {
  const { rollout: _, ...known }: Partial<ResourceStatus> = options.status.get(ref) ?? {};
  const hasWorkload = ref.kind === 'Tenant' || ref.kind === 'KMSConfig';
  const running = hasWorkload ? await options.runtime?.observeOne(workloadName(ref)) : undefined;
  const seen = running === undefined ? {} : workloadStatus(running, running.wanted, undefined, ref);
  await status.put(ref, [notReady(reason, message), stalled(reason, message)], { ...known, ...seen });
  options.enqueue(ref, conflictRetryMs);
}

/** Without a runtime where what is in the way keeps the whole namespace from being begun. */
type ConflictOptions = Pick<ReconcilerOptions, 'status' | 'enqueue'> & Partial<Pick<ReconcilerOptions, 'runtime'>>;
