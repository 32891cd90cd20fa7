import type { Connection } from './credentials.ts';
import type { DeleteOptions, KubeApi, KubeObject, ResourceType } from './kube-api.ts';

export interface KubeClientOptions {
  /** `coffer-operator` without it. */
  readonly fieldManager?: string;
  /** Milliseconds for a whole call that is no watch: 30 s without it. */
  readonly timeoutMs?: number;
  /** Milliseconds without a byte after which a watch counts as dead: 90 s beyond nothing, see `Reflector`. */
  readonly watchInactivityMs?: number;
}

/** The Kubernetes API over Node's own HTTP, plain JSON. */
export declare class KubeClient implements Pick<KubeApi, 'get'> {
  constructor(connection: Connection, options?: KubeClientOptions);
  get: KubeApi['get'];
  list: KubeApi['list'];
  watch: KubeApi['watch'];
  create: KubeApi['create'];
  apply: KubeApi['apply'];
  applyStatus: KubeApi['applyStatus'];
  patch: KubeApi['patch'];
  delete(type: ResourceType, namespace: string | undefined, name: string, options?: DeleteOptions): Promise<void>;
  /** PUT of the whole object; errors with `Conflict` when `metadata.resourceVersion` is no longer the current one. */
  replace(object: KubeObject): Promise<KubeObject>;
  /** Asks for the eviction of a pod, which a PodDisruptionBudget may refuse: KubeError 429 `TooManyRequests`. */
  evict(namespace: string, pod: string): Promise<void>;
  /** The last lines of a pod's log. `previous`: of the container before its last restart. */
  log(
    namespace: string,
    pod: string,
    options?: { readonly container?: string; readonly tailLines?: number; readonly previous?: boolean },
  ): Promise<string>;
  /** Closes kept connections. */
  close(): void;
}
