import { ResourceError } from '../api/resource-error.ts';
import type { Workload } from '../runtime/contract/workload.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import type { Issue } from './workload-conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';

/** A workload, or the problem that prevents it. Then the running workload stays as it is. */
export type Rendered =
  | { readonly desired: Workload; readonly problem: undefined }
  | { readonly desired: undefined; readonly problem: Issue };

export function attempt(render: () => Workload): Rendered {
  try {
    return { desired: render(), problem: undefined };
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    return { desired: undefined, problem: { reason: error.code, message: error.message } };
  }
}

/** Errors with a `ResourceError` when the operator does not allow the pod options of the resource. */
export function refuseUnallowed(
  resource: Tenant | KMSConfig,
  { refusedPod }: Pick<ReconcilerOptions, 'refusedPod'>,
): void {
  const rejected = refusedPod?.(resource);
  if (rejected !== undefined) throw new ResourceError('NotAllowed', rejected);
}
