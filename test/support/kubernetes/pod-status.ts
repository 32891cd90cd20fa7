import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import { isObject, timestamp, type ApiObject, type JsonObject } from './api-object.ts';

/** What a simulated pod does, as long as its test says so. */
export type PodBehaviour =
  /** Runs, and its probe succeeds. */
  | { readonly kind: 'ready' }
  /** Runs, and its probe fails. */
  | { readonly kind: 'not-ready' }
  /** No node takes it. */
  | { readonly kind: 'pending' }
  /** Its program ends again and again. */
  | { readonly kind: 'crash-loop'; readonly restarts: number; readonly message: string }
  | { readonly kind: 'image-pull-back-off' }
  /** Its program ends for good, with this termination message. */
  | { readonly kind: 'completed'; readonly exitCode: number; readonly message: string };

export type Behave = (pod: KubeObject) => PodBehaviour;

/** Ready, but for images with `bad` in their name, which cannot be had. */
export function wellBehaved(pod: KubeObject): PodBehaviour {
  const { containers } = pod['spec'] as { containers: readonly { image?: string }[] };
  return containers.some(({ image }) => image?.includes('bad')) ? { kind: 'image-pull-back-off' } : { kind: 'ready' };
}

/** What stops a container before its program starts, as its waiting state tells it. */
export interface Waiting {
  readonly reason: 'ContainerCreating' | 'CreateContainerConfigError' | 'ImagePullBackOff';
  readonly message: string;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** `status` of a pod that behaves so, as the kubelet of a real node writes it. Times stay where conditions stay. */
export function podStatus(pod: ApiObject, behaviour: PodBehaviour, ip: string, waiting?: Waiting): JsonObject {
  const { nodeName, containers } = pod['spec'] as PodSpec;
  const former = isObject(pod['status']) ? pod['status'] : {};
  const condition = conditionsOf(former);
  if (nodeName === undefined) {
    const message = '0/1 nodes are available: 1 node(s) did not match.';
    return { ...former, phase: 'Pending', conditions: [condition('PodScheduled', false, 'Unschedulable', message)] };
  }
  const runs = waiting === undefined && (behaviour.kind === 'ready' || behaviour.kind === 'not-ready');
  const ready = runs && behaviour.kind === 'ready';
  const ended = waiting === undefined && behaviour.kind === 'completed';
  const reason = ready ? undefined : ended ? 'PodCompleted' : 'ContainersNotReady';
  const message =
    ready || ended ? undefined : `containers with unready status: [${containers.map(({ name }) => name).join(' ')}]`;
  return {
    ...former,
    phase: phaseOf(behaviour, waiting),
    hostIP: '192.168.0.1',
    ...(waiting === undefined ? { podIP: ip, podIPs: [{ ip }] } : {}),
    startTime: former['startTime'] ?? timestamp(),
    conditions: [
      condition('PodReadyToStartContainers', waiting === undefined),
      condition('Initialized', true),
      condition('Ready', ready, reason, message),
      condition('ContainersReady', ready, reason, message),
      condition('PodScheduled', true),
    ],
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: waiting === undefined ? `${image}@sha256:${'0'.repeat(64)}` : '',
      ready,
      started: runs,
      restartCount: behaviour.kind === 'crash-loop' ? behaviour.restarts : 0,
      ...states(former, name, behaviour, waiting),
    })),
  };
}

function phaseOf(behaviour: PodBehaviour, waiting: Waiting | undefined): string {
  if (waiting !== undefined) return 'Pending';
  switch (behaviour.kind) {
    case 'pending':
    case 'image-pull-back-off':
      return 'Pending';
    case 'completed':
      return behaviour.exitCode === 0 ? 'Succeeded' : 'Failed';
    case 'ready':
    case 'not-ready':
    case 'crash-loop':
      return 'Running';
  }
}

function states(former: JsonObject, name: string, behaviour: PodBehaviour, waiting: Waiting | undefined): JsonObject {
  if (waiting !== undefined) return { state: { waiting }, lastState: {} };
  switch (behaviour.kind) {
    case 'crash-loop': {
      const back = `back-off 5m0s restarting failed container=${name}`;
      return {
        state: { waiting: { reason: 'CrashLoopBackOff', message: back } },
        lastState: lastCrash(former, behaviour.message),
      };
    }
    case 'completed': {
      const reason = behaviour.exitCode === 0 ? 'Completed' : 'Error';
      return { state: { terminated: terminated(behaviour.exitCode, reason, behaviour.message) }, lastState: {} };
    }
    case 'pending':
    case 'image-pull-back-off':
      return { state: { waiting: { reason: 'ContainerCreating' } }, lastState: {} };
    case 'ready':
    case 'not-ready':
      return { state: { running: { startedAt: former['startTime'] ?? timestamp() } }, lastState: {} };
  }
}

/** The same crash keeps its times. */
function lastCrash(former: JsonObject, message: string): unknown {
  const [before] = (Array.isArray(former['containerStatuses']) ? former['containerStatuses'] : []) as {
    lastState?: { terminated?: { message?: string } };
  }[];
  if (before?.lastState?.terminated?.message === message) return before.lastState;
  return { terminated: terminated(1, 'Error', message) };
}

function terminated(exitCode: number, reason: string, message: string): JsonObject {
  return { exitCode, reason, message, startedAt: timestamp(), finishedAt: timestamp() };
}

function conditionsOf(
  former: JsonObject,
): (type: string, holds: boolean, reason?: string, message?: string) => JsonObject {
  const before = (Array.isArray(former['conditions']) ? former['conditions'] : []).filter(isObject);
  return (type, holds, reason, message) => {
    const status = holds ? 'True' : 'False';
    const same = before.find((condition) => condition['type'] === type && condition['status'] === status);
    return {
      type,
      status,
      lastProbeTime: null,
      lastTransitionTime: same?.['lastTransitionTime'] ?? timestamp(),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    };
  };
}
