import { RenderProblem } from '../render/render-context.ts';
import type { Workload } from '../runtime/contract/workload.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import type { Problem } from './workload-conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';

/** A workload, or why there is none: then what runs is left as it is. */
export type Rendered =
  | { readonly desired: Workload; readonly problem: undefined }
  | { readonly desired: undefined; readonly problem: Problem };

export function attempt(render: () => Workload): Rendered {
  try {
    return { desired: render(), problem: undefined };
  } catch (error) {
    if (!(error instanceof RenderProblem)) throw error;
    return { desired: undefined, problem: { reason: error.reason, message: error.message } };
  }
}

/** Errors with a `RenderProblem` where the operator does not allow what the resource asks of its pods. */
export function refuseUnallowed(
  resource: Tenant | KMSConfig,
  { refusedPod }: Pick<ReconcilerOptions, 'refusedPod'>,
): void {
  const refused = refusedPod?.(resource);
  if (refused !== undefined) throw new RenderProblem('NotAllowed', refused);
}
