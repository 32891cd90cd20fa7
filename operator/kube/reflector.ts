import type { KubeApi } from './kube-api.ts';
import type { ResourceCache } from './resource-cache.ts';

export interface ReflectorOptions {
  readonly api: Pick<KubeApi, 'list' | 'watch'>;
  readonly cache: ResourceCache;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly random: () => number;
  /** Why a list or watch ended, for log and metrics. */
  readonly restarted?: (error: unknown) => void;
}

/** Keeps a cache equal to what the API server has: list, then watch, again and again until `stop`. */
export declare class Reflector {
  constructor(options: ReflectorOptions);
  start(): void;
  stop(): Promise<void>;
}
