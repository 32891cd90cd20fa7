import { ResourceError } from '../api/resource-error.ts';
import type { Workload } from '../contract/workload.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import type { Issue } from './workload-conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';

/** A workload, or the problem that prevents it. Then the running workload stays as it is. */
export type Rendered =
  { readonly desired: Workload; readonly issue: undefined } | { readonly desired: undefined; readonly issue: Issue };

export function attempt(render: () => Workload): Rendered {
  try {
    return { desired: render(), issue: undefined };
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    return { desired: undefined, issue: { reason: error.code, message: error.message } };
  }
}

/** Errors with a `ResourceError` when the operator does not allow the pod options of the resource. */
export function refuseUnallowed(
  resource: Tenant | KMSConfig,
  { rejectedPod }: Pick<ReconcilerOptions, 'rejectedPod'>,
): void {
  const rejected = rejectedPod?.(resource);
  if (rejected !== undefined) throw new ResourceError('NotAllowed', rejected);
}
