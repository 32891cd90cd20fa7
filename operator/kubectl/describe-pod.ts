import type { KubeObject } from '../kube/kube-api.ts';
import type { PodStatus } from './status-model.ts';

interface ContainerStatus {
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly image?: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly reason?: string; readonly message?: string; readonly exitCode?: number };
  };
}

interface PodFields {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] };
  readonly status?: {
    readonly startTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** A pod as a person wants to hear of it. */
export function describePod(pod: KubeObject): PodStatus {
  const { spec = {}, status = {} } = pod as KubeObject & PodFields;
  const containers = status.containerStatuses ?? [];
  const stopped = containers.map(({ state }) => state?.waiting ?? state?.terminated).find((why) => why !== undefined);
  const unscheduled = status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const ready = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const message = stopped?.message ?? unscheduled?.message;
  return {
    name: pod.metadata.name,
    state: stateOf(pod, ready, stopped?.reason ?? (unscheduled === undefined ? undefined : 'Unschedulable')),
    ...(message === undefined ? {} : { message }),
    restarts: containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    image: spec.containers?.[0]?.image ?? '',
    ...(spec.nodeName === undefined ? {} : { node: spec.nodeName }),
    ...(status.startTime === undefined ? {} : { startedAt: status.startTime }),
  };
}

function stateOf({ metadata }: KubeObject, ready: boolean, why: string | undefined): string {
  if (metadata.deletionTimestamp !== undefined) return 'stopping';
  if (ready) return 'ready';
  return why ?? 'starting';
}
