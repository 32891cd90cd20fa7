import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Workload } from '../../../contract/workload.ts';
import { disruptionBudget, statefulSet, type KeptParts } from './stateful-set.ts';
import { fileSecrets, type ResolvedFile, type ObjectContext } from './object-context.ts';
import { ingresses, networkPolicy, services } from './network.ts';
import { metricsToken, serviceMonitor } from './service-monitor.ts';
import { sharedClaims } from './volumes.ts';

interface WorkloadParts {
  readonly files: readonly ResolvedFile[];
  /** Values of the reloading Secret that pods still mount, as `data` of a Secret. */
  readonly keptFiles: Readonly<Record<string, string>>;
  /** Parts of the existing StatefulSet; undefined for a new one. */
  readonly kept: KeptParts | undefined;
}

/** Makes every object of a workload in the order of creation: objects that pods need come before them, objects that lead to pods after. */
export function workloadObjects(
  workload: Workload,
  { files, keptFiles, kept }: WorkloadParts,
  context: ObjectContext,
): readonly KubeObject[] {
  const claims = sharedClaims(workload, context);
  const isNew = kept === undefined;
  return [
    // Before the policies that admit a tenant: the claim records whose data its keys encrypt.
    ...(isNew ? [] : claims),
    ...fileSecrets(workload, files, keptFiles, context),
    ...networkPolicy(workload, context),
    ...services(workload, context),
    statefulSet(workload, context, kept),
    // A claim that is there before its StatefulSet was not made for it.
    ...(isNew ? claims : []),
    ...disruptionBudget(workload, context),
    ...ingresses(workload, context),
    ...metricsToken(workload, context),
    ...serviceMonitor(workload, context),
  ];
}
