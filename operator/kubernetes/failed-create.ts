import { z } from 'zod';
import type { KubeObject } from '../kube/kube-api.ts';
import { statefulSetView } from './live-workload.ts';

const event = z.object({
  involvedObject: z.object({ name: z.string(), uid: z.string().optional() }),
  message: z.string().default(''),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
  series: z.object({ lastObservedTime: z.string().nullish() }).nullish(),
});

/** `create Pod demo-server-0 in StatefulSet demo-server failed error: …`, `create Claim data-… for Pod demo-server-0 in StatefulSet …`. */
const failure = /\bPod (\S+) in StatefulSet \S+ failed error: (.*)$/s;
const longestMessage = 1_000;

export interface FailedCreate {
  readonly statefulSet: string;
  readonly uid: string | undefined;
  readonly pod: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Undefined for an event that names no pod. */
export function failedCreateView(object: KubeObject): FailedCreate | undefined {
  const parsed = event.safeParse(object);
  const [, pod, message] = failure.exec(parsed.data?.message ?? '') ?? [];
  if (parsed.data === undefined || pod === undefined || message === undefined) return undefined;
  const { involvedObject, series, lastTimestamp, eventTime } = parsed.data;
  const time = Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? '');
  const { name: statefulSet, uid } = involvedObject;
  return { statefulSet, uid, pod, message: message.slice(0, longestMessage), time: Number.isNaN(time) ? 0 : time };
}

/**
 * Why pods of a StatefulSet were not made (a quota, Pod Security, a priority class that does not exist), by name: the last word for
 * each. Events stay for an hour, so that what was told before a pod was last seen does not count.
 */
export function refusedPods(
  statefulSet: KubeObject,
  events: readonly KubeObject[],
  seen: ReadonlyMap<string, number>,
): ReadonlyMap<string, string> {
  const { name, uid } = statefulSet.metadata;
  const { replicas } = statefulSetView(statefulSet).spec;
  const wanted = new Set(Array.from({ length: replicas }, (_, index) => `${name}-${index}`));
  const failures = events
    .flatMap((object) => failedCreateView(object) ?? [])
    .filter((one) => one.statefulSet === name && wanted.has(one.pod))
    .filter((one) => one.uid === undefined || one.uid === uid)
    .filter(({ pod, time }) => time > (seen.get(pod) ?? 0))
    .toSorted((a, b) => a.time - b.time);
  return new Map(failures.map(({ pod, message }) => [pod, message]));
}
