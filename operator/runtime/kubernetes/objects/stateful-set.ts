import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { canonical } from '../../../render/restart-inputs.ts';
import type { Json, Workload } from '../../../contract/workload.ts';
import {
  admittedAnnotation,
  inputsAnnotation,
  podSelector,
  templateAnnotation,
  workloadMeta,
  writeInputs,
} from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { podTemplate } from './pod-template.ts';
import { headlessServiceName } from './network.ts';
import { claimTemplates } from './volumes.ts';

/** The parts that the API server never changes, or that only a restart changes. They are sent back unchanged. */
export interface KeptParts {
  readonly immutable: Readonly<Record<string, Json>>;
  /** Undefined when a new template is wanted. */
  readonly template: KeptTemplate | undefined;
  /** Paths of the template that the cluster changes. */
  readonly admitted: readonly string[];
}

export interface KeptTemplate {
  readonly template: Json;
  /** The annotations that record the inputs of the template. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** With OnDelete Kubernetes replaces no pod by itself, so the operator decides which pod goes, and when. */
export function statefulSet(workload: Workload, context: ObjectContext, kept?: KeptParts): KubeObject {
  const metadata = workloadMeta(workload, context, workload.name);
  const { template, annotations } = kept?.template ?? newTemplate(workload, context);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...metadata, annotations: { ...annotations, ...admittedPaths(kept?.admitted ?? []) } },
    spec: {
      replicas: wantedReplicas(workload),
      updateStrategy: { type: 'OnDelete' },
      revisionHistoryLimit: 2,
      persistentVolumeClaimRetentionPolicy: {
        whenDeleted: workload.kubernetes.reclaimPolicy,
        whenScaled: 'Retain',
      },
      ...(kept?.immutable ?? immutableParts(workload)),
      template,
    },
  };
}

function admittedPaths(paths: readonly string[]): Readonly<Record<string, string>> {
  return paths.length === 0 ? {} : { [admittedAnnotation]: paths.join(',') };
}

/** Makes the current pod template. */
export function newTemplate(workload: Workload, context: ObjectContext): KeptTemplate {
  const template = podTemplate(workload, context);
  const annotations = {
    [inputsAnnotation]: writeInputs(workload.inputs),
    [templateAnnotation]: context.fingerprint(canonical(template)),
  };
  return { template, annotations };
}

function wantedReplicas(workload: Workload): number {
  return workload.kubernetes.hibernated ? 0 : workload.replicas;
}

export const immutableFields = ['serviceName', 'podManagementPolicy', 'selector', 'volumeClaimTemplates'] as const;

function immutableParts(workload: Workload): Readonly<Record<string, Json>> {
  const templates = claimTemplates(workload);
  return {
    serviceName: headlessServiceName(workload.name),
    // Servers wait for each other by themselves. A broken one must not keep the others from starting.
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: podSelector(workload.name) },
    ...(templates.length === 0 ? {} : { volumeClaimTemplates: templates }),
  };
}

/** A lone instance has no budget: it would block every drain of its node. */
export function disruptionBudget(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  if (wantedReplicas(workload) < 2) return [];
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: workloadMeta(workload, context, workload.name),
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: podSelector(workload.name) },
        // A pod that is not ready may be evicted, or a crash loop would block the drain of its node.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    },
  ];
}
