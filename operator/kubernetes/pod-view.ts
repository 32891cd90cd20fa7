import { z } from 'zod';
import type { KubeObject } from '../kube/kube-api.ts';

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

export type PodView = z.output<typeof pod>;
export type ContainerStatus = z.output<typeof containerStatus>;
export type Terminated = z.output<typeof terminated>;

/** What the operator reads of a Pod. Errors for what no API server sends. */
export function podView(object: KubeObject): PodView {
  return pod.parse(object);
}
