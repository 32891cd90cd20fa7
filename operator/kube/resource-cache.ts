import type { Cache, KubeObject, ResourceType } from './kube-api.ts';

export interface ResourceCacheOptions {
  /** What to keep of an object; `metadata.managedFields` always goes. The whole without it. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** A listener threw. */
  readonly failed: (error: unknown) => void;
}

/** What a Reflector fills and everybody reads. In tests filled by hand: `replace` for a list, `take` and `drop` for a watch. */
export declare class ResourceCache implements Cache {
  readonly type: ResourceType;
  constructor(type: ResourceType, options: ResourceCacheOptions);
  get: Cache['get'];
  list: Cache['list'];
  ofWorkload: Cache['ofWorkload'];
  wrote: Cache['wrote'];
  deleted: Cache['deleted'];
  onChange: Cache['onChange'];
  synced: Cache['synced'];
  /** A complete list: what is not in it is gone. */
  replace(objects: readonly KubeObject[], resourceVersion: string): void;
  /** ADDED or MODIFIED. */
  take(object: KubeObject): void;
  /** DELETED. */
  drop(object: KubeObject): void;
  readonly size: number;
}
