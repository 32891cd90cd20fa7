import { z } from 'zod';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Instance, InstanceState, WorkloadState } from '../../../contract/runtime.ts';
import type { RestartInput } from '../../../contract/workload.ts';
import { readInputs, inputsAnnotation, ownerKindLabel, ownerLabel } from '../objects/labels.ts';

const terminated = z.object({
  exitCode: z.number().optional(),
  signal: z.number().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

const containerStatus = z.object({
  name: z.string().optional(),
  ready: z.boolean().optional(),
  restartCount: z.number().default(0),
  state: z
    .object({
      waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
      running: z.object({ startedAt: z.string().optional() }).optional(),
      terminated: terminated.optional(),
    })
    .default({}),
  lastState: z.object({ terminated: terminated.optional() }).default({}),
});

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.string().nullish(),
});

const pod = z.object({
  spec: z
    .object({
      containers: z.array(z.object({ name: z.string().optional(), image: z.string().optional() })).default([]),
    })
    .default({ containers: [] }),
  status: z
    .object({
      phase: z.string().optional(),
      podIP: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      conditions: z.array(condition).default([]),
      initContainerStatuses: z.array(containerStatus).default([]),
      containerStatuses: z.array(containerStatus).default([]),
    })
    .default({ conditions: [], initContainerStatuses: [], containerStatuses: [] }),
});

type PodView = z.output<typeof pod>;
type ContainerStatus = z.output<typeof containerStatus>;
type Terminated = z.output<typeof terminated>;

/** Returns the fields of a Pod that the operator reads. Errors for objects that no API server sends. */
export function podView(object: KubeObject): PodView {
  return pod.parse(object);
}

/** Waiting reasons that need a change before the container runs. Others, such as ContainerCreating, end by themselves. */
const brokenReasons: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Milliseconds: a program that ended this often and runs for less is between two crashes. */
const crashes = 3;
const crashLifeMs = 60_000;

/** Milliseconds for the creation of nodes and volumes on demand. After it, the user has to act. */
const schedulingDeadlineMs = 5 * 60_000;

/** Characters of messages from programs and kubelets. */
const maxMessageLength = 500;

/** `replaced` has the uids of deleted pods, which a cache may still show. */
export function instanceOf(
  pod: KubeObject,
  replaced: ReadonlySet<string>,
  now: Date,
  drifted: ReadonlySet<string> = new Set(),
): Instance {
  const { name, uid, annotations, deletionTimestamp } = pod.metadata;
  const view = podView(pod);
  const goes = deletionTimestamp !== undefined || (uid !== undefined && replaced.has(uid));
  const version = versionOf(view);
  return {
    name,
    inputs: [...(readInputs(annotations?.[inputsAnnotation]) ?? []), ...driftInput(pod, drifted)],
    state: goes ? { kind: 'stopping' } : podState(view, now),
    ...(version === undefined ? {} : { version }),
  };
}

/** A pod of a manually changed template runs with inputs that do not match the workload. */
function driftInput({ metadata: { labels = {} } }: KubeObject, drifted: ReadonlySet<string>): readonly RestartInput[] {
  const { 'controller-revision-hash': revision, [ownerKindLabel]: kind, [ownerLabel]: name } = labels;
  if (revision === undefined || !drifted.has(revision) || (kind !== 'Tenant' && kind !== 'KMSConfig')) return [];
  return [{ reason: 'Drift', field: 'pod template', of: { kind, name: name ?? '' }, fingerprint: revision }];
}

/** Returns the state of all instances together. It is `ready` when every wanted instance is. */
export function workloadState(instances: readonly Instance[], wanted: number): WorkloadState {
  if (wanted === 0 && instances.length === 0) return { kind: 'stopped' };
  const states = instances.map(({ state }) => state);
  const ready = states.filter(({ kind }) => kind === 'ready').length;
  if (ready >= wanted) return { kind: 'ready' };
  for (const [index, state] of states.entries()) {
    if (state.kind !== 'broken') continue;
    const { restarts, message } = state;
    return { kind: 'crash-loop', restarts, message: `${instances[index]?.name ?? ''}: ${message}` };
  }
  for (const [index, state] of states.entries()) {
    if (state.kind === 'not-ready')
      return { kind: 'not-ready', message: `${instances[index]?.name ?? ''}: ${state.message}` };
  }
  return ready === 0
    ? { kind: 'starting' }
    : { kind: 'not-ready', message: `${ready} of ${wanted} instances are ready` };
}

/** Returns the state of a pod that is not being deleted. */
export function podState(view: PodView, now: Date): InstanceState {
  const { status } = view;
  if (status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True'))
    return { kind: 'ready' };
  if (status.phase === 'Failed') {
    const end = status.containerStatuses.map(({ state }) => state.terminated).find((state) => state !== undefined);
    const message = [status.reason, status.message ?? (end && endOf(end))].filter((part) => part !== undefined);
    return { kind: 'broken', restarts: restartsOf(view), message: cut(message.join(': ') || 'the pod failed') };
  }
  const containers = [...status.initContainerStatuses, ...status.containerStatuses];
  for (const container of containers) {
    const message = brokenMessage(container, now);
    if (message !== undefined) return { kind: 'broken', restarts: container.restartCount, message };
  }
  return unscheduledState(view, now) ?? startingOrNotReady(status, containers);
}

function brokenMessage(container: ContainerStatus, now: Date): string | undefined {
  const { waiting, running } = container.state;
  const last = container.lastState.terminated ?? container.state.terminated;
  if (waiting?.reason !== undefined && brokenReasons.has(waiting.reason)) {
    const why = waiting.reason === 'CrashLoopBackOff' && last !== undefined ? endOf(last) : waiting.message;
    return cut(why === undefined ? waiting.reason : `${waiting.reason}: ${why}`);
  }
  if (running?.startedAt === undefined || last === undefined || container.restartCount < crashes) return undefined;
  const age = now.getTime() - Date.parse(running.startedAt);
  return age < crashLifeMs ? cut(`CrashLoopBackOff: ${endOf(last)}`) : undefined;
}

/** Returns the time, in milliseconds since the epoch, after which an unscheduled pod counts as broken; undefined for a pod with a node. */
export function schedulingDeadline({ status: { conditions } }: PodView): number | undefined {
  const found = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return found && Date.parse(found.lastTransitionTime ?? '') + schedulingDeadlineMs;
}

function unscheduledState(view: PodView, now: Date): InstanceState | undefined {
  const deadline = schedulingDeadline(view);
  if (deadline === undefined) return undefined;
  const found = view.status.conditions.find(({ type }) => type === 'PodScheduled');
  const message = cut(`no node takes it: ${found?.message ?? found?.reason ?? ''}`);
  return now.getTime() >= deadline ? { kind: 'broken', restarts: 0, message } : { kind: 'starting', message };
}

function startingOrNotReady(status: PodView['status'], containers: readonly ContainerStatus[]): InstanceState {
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  const started = containers.map(({ state }) => state.running?.startedAt).find((time) => time !== undefined);
  const changed = ready?.lastTransitionTime;
  // Ready became false after the start, so it had been true. Both times are whole seconds.
  if (started !== undefined && typeof changed === 'string' && Date.parse(changed) > Date.parse(started)) {
    return { kind: 'not-ready', message: 'its readiness probe fails' };
  }
  const waiting = containers.map(({ state }) => state.waiting).find((state) => state !== undefined);
  if (waiting?.message !== undefined) return { kind: 'starting', message: cut(waiting.message) };
  return started === undefined
    ? { kind: 'starting' }
    : { kind: 'starting', message: 'it does not answer as ready yet' };
}

function endOf({ exitCode, signal, reason, message }: Terminated): string {
  const how = signal === undefined || signal === 0 ? `exit code ${exitCode ?? 'unknown'}` : `signal ${signal}`;
  const why = reason === undefined || reason === 'Error' ? '' : ` (${reason})`;
  const last = message === undefined ? undefined : lastWords(message);
  return `its program ended with ${how}${why}${last === undefined ? '' : `: ${last}`}`;
}

/** Returns the last line of a program's log, or the message of a line of JSON. */
function lastWords(text: string): string | undefined {
  const line = text.trim().split('\n').at(-1)?.trim();
  if (line === undefined || line === '') return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null && 'msg' in entry && typeof entry.msg === 'string')
      return entry.msg;
  } catch {
    // The line is plain text.
  }
  return line;
}

function restartsOf({ status }: PodView): number {
  return Math.max(0, ...status.containerStatuses.map(({ restartCount }) => restartCount));
}

/** Returns the tag of the image, or its shortened digest. */
function versionOf({ spec }: PodView): string | undefined {
  const image = spec.containers[0]?.image;
  const digest = image?.match(/@sha256:([0-9a-f]{12})/)?.[1];
  const tag = image?.match(/:([^:/@]+)(@|$)/)?.[1];
  return tag !== undefined && !image?.includes(`@sha256:${tag}`) ? tag : digest;
}

function cut(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}
