import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { canonical } from '../../../render/restart-inputs.ts';
import type { Json, Workload } from '../../contract/workload.ts';
import { inputsAnnotation, podSelector, templateAnnotation, workloadMeta, writeInputs } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { podTemplate } from './pod-template.ts';
import { headlessServiceName } from './network.ts';
import { claimTemplates } from './volumes.ts';

/** What the API server never lets change, and what only restarts change: sent back as it is. */
export interface KeptParts {
  readonly immutable: Readonly<Record<string, Json>>;
  /** Undefined where a new one is wanted. */
  readonly template: KeptTemplate | undefined;
}

export interface KeptTemplate {
  readonly template: Json;
  /** Those that say what the template was made from. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** OnDelete: Kubernetes replaces no pod by itself, so that the operator alone says which pod goes, and when. */
export function statefulSet(workload: Workload, context: ObjectContext, kept?: KeptParts): KubeObject {
  const metadata = workloadMeta(workload, context, workload.name);
  const { template, annotations } = kept?.template ?? newTemplate(workload, context);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...metadata, annotations },
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

/** The template as it is rendered now. */
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
    // Servers wait for each other by themselves; one that is broken must not keep the others from being started.
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: podSelector(workload.name) },
    ...(templates.length === 0 ? {} : { volumeClaimTemplates: templates }),
  };
}

/** A lone instance has none: it would keep its node from ever being drained. */
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
        // A pod that is broken anyway may go, or a crash loop would keep its node from being drained.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    },
  ];
}
