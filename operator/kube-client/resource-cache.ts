import { type KubeObject, foreignFields, type Cache, type ResourceType } from './kube-api.ts';

/**
 * Reports whether `one` is a later version than `other` of the same resource type. Versions are decimal numbers on every server since
 * 1.35, and earlier with etcd. For other versions the answer is undefined, and the caller must take what came last.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
function isLater(one: string | undefined, other: string | undefined): boolean | undefined {
  if (one === undefined || other === undefined || !decimal.test(one) || !decimal.test(other)) return undefined;
  return BigInt(one) > BigInt(other);
}

const decimal = /^\d+$/;

function versionOf(object: KubeObject): string | undefined {
  return object.metadata.resourceVersion;
}

export interface ResourceCacheOptions {
  /** Returns what to keep of an object; the default keeps all. Managed fields and kubectl's copy of the manifest are always dropped. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** Keeps, of the managed fields, the spec fields that others than the operator wrote. */
  readonly foreignFields?: true | undefined;
  /** Namespaces that are listed one by one; `synced` waits for all of them. Undefined means one list of all namespaces. */
  readonly namespaces?: readonly string[];
  /** Called when a listener throws. */
  readonly failed: (error: unknown) => void;
}

const workloadLabel = 'coffer.dev/workload';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

type Listener = (before: KubeObject | undefined, after: KubeObject | undefined) => void;

/**
 * A cache that a Reflector fills. Writes of the operator go in at once (`wrote`, `deleted`). Older states that a list or watch reports
 * later are ignored, so that no reconcile acts on a state that the operator has already changed.
 */
export class ResourceCache implements Cache {
  readonly type: ResourceType;
  readonly namespaces: readonly string[] | undefined;
  readonly #options: ResourceCacheOptions;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #byWorkload = new Map<string, Map<string, KubeObject>>();
  /** Uids of objects that the operator deleted and that the watch may still report. */
  readonly #deleted = new Set<string>();
  /** By uid, the version at which an object left: the answer to an earlier write must not bring it back. Only the newest entries. */
  readonly #gone = new Map<string, string>();
  readonly #listeners: Listener[] = [];
  readonly #unsynced: Set<string>;
  /** Version of the last list of each namespace. */
  readonly #listVersions = new Map<string, string>();
  readonly #synced = Promise.withResolvers<void>();

  constructor(type: ResourceType, options: ResourceCacheOptions) {
    this.type = type;
    this.namespaces = options.namespaces;
    this.#options = options;
    this.#unsynced = new Set(options.namespaces ?? [everywhere]);
  }

  get size(): number {
    let size = 0;
    for (const objects of this.#objects.values()) size += objects.size;
    return size;
  }

  get isSynced(): boolean {
    return this.#unsynced.size === 0;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(namespace)?.get(name);
  }

  list(namespace?: string): readonly KubeObject[] {
    if (namespace !== undefined) return [...(this.#objects.get(namespace)?.values() ?? [])];
    return [...this.#objects.values()].flatMap((objects) => [...objects.values()]);
  }

  ofWorkload(namespace: string, workload: string): readonly KubeObject[] {
    return [...(this.#byWorkload.get(`${namespace}/${workload}`)?.values() ?? [])];
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  synced(): Promise<void> {
    return this.#synced.promise;
  }

  wrote(object: KubeObject): void {
    this.take(object);
  }

  deleted(namespace: string, name: string): void {
    const object = this.get(namespace, name);
    if (object === undefined) return;
    if (object.metadata.uid !== undefined) this.#deleted.add(object.metadata.uid);
    this.#set(object, undefined);
  }

  /** Takes a complete list of the namespace, or of all: objects that are not in it are gone. `resourceVersion` is that of the list. */
  replace(objects: readonly KubeObject[], resourceVersion: string, namespace?: string): void {
    const scope = namespace ?? everywhere;
    // Only a server that was restored from a backup lists an earlier version than before. Then the list replaces everything.
    const setBack = isLater(this.#listVersions.get(scope), resourceVersion) === true;
    this.#listVersions.set(scope, resourceVersion);
    if (setBack) this.#gone.clear();
    const listed = new Set<string>();
    for (const object of objects) {
      listed.add(keyOf(object));
      if (setBack) this.#set(this.#before(object), this.trim(object));
      else this.take(object);
    }
    for (const object of this.list(namespace)) {
      // The operator wrote a later object while the list was on its way.
      const later = !setBack && isLater(versionOf(object), resourceVersion) === true;
      if (later || listed.has(keyOf(object))) continue;
      this.#remember(object, resourceVersion);
      this.#set(object, undefined);
    }
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    if (namespace === undefined) for (const uid of this.#deleted) if (!uids.has(uid)) this.#deleted.delete(uid);
    if (this.#unsynced.delete(scope) && this.isSynced) this.#synced.resolve();
  }

  /** Takes an added or modified object. */
  take(object: KubeObject): void {
    const { uid, deletionTimestamp } = object.metadata;
    // A deleted object does not come back. A pod in its grace period has a deletion timestamp.
    if (uid !== undefined && this.#deleted.has(uid) && deletionTimestamp === undefined) return;
    const left = uid === undefined ? undefined : this.#gone.get(uid);
    // An object that only left the selection (its label was removed) comes back with a later version.
    if (left !== undefined && isLater(versionOf(object), left) !== true) return;
    const before = this.#before(object);
    if (before !== undefined && !isNewer(object, before)) return;
    this.#set(before, this.trim(object));
  }

  /** Removes an object; `object` is its last state. */
  drop(object: KubeObject): void {
    if (object.metadata.uid !== undefined) this.#deleted.delete(object.metadata.uid);
    this.#remember(object, versionOf(object));
    const before = this.#before(object);
    // The operator made a new object of the name meanwhile.
    if (before === undefined || isLater(versionOf(before), versionOf(object)) === true) return;
    this.#set(before, undefined);
  }

  /** Returns the part of an object that the cache keeps. */
  trim(object: KubeObject): KubeObject {
    const {
      managedFields: _managedFields,
      annotations,
      ...rest
    } = object.metadata as KubeObject['metadata'] & {
      readonly managedFields?: unknown;
    };
    const { [lastApplied]: _lastApplied, ...kept } = annotations ?? {};
    const foreign = this.#options.foreignFields === undefined ? [] : foreignFields(object);
    const metadata = {
      ...rest,
      ...(annotations === undefined ? {} : { annotations: kept }),
      ...(foreign.length === 0 ? {} : { foreign }),
    };
    const trimmed = { ...object, metadata };
    return this.#options.keep?.(trimmed) ?? trimmed;
  }

  #remember({ metadata: { uid } }: KubeObject, resourceVersion: string | undefined): void {
    if (uid === undefined || resourceVersion === undefined) return;
    this.#gone.set(uid, resourceVersion);
    if (this.#gone.size <= maxTombstones) return;
    const [oldest] = this.#gone.keys();
    if (oldest !== undefined) this.#gone.delete(oldest);
  }

  #before(object: KubeObject): KubeObject | undefined {
    return this.get(object.metadata.namespace ?? '', object.metadata.name);
  }

  #set(before: KubeObject | undefined, after: KubeObject | undefined): void {
    if (before !== undefined) {
      remove(this.#objects, before.metadata.namespace ?? '', before.metadata.name);
      const workload = workloadOf(before);
      if (workload !== undefined) remove(this.#byWorkload, workload, before.metadata.name);
    }
    if (after !== undefined) {
      insert(this.#objects, after.metadata.namespace ?? '', after);
      const workload = workloadOf(after);
      if (workload !== undefined) insert(this.#byWorkload, workload, after);
    }
    for (const listener of this.#listeners) {
      try {
        listener(before, after);
      } catch (error) {
        this.#options.failed(error);
      }
    }
  }
}

/** Returns are on their way for seconds; fewer objects leave in that time. */
const maxTombstones = 1_000;

/** Means all namespaces: the name of a namespace is never empty. */
const everywhere = '';

function isNewer(object: KubeObject, before: KubeObject): boolean {
  const version = versionOf(object);
  if (version !== undefined && version === versionOf(before)) return false;
  return isLater(version, versionOf(before)) ?? true;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function workloadOf({ metadata }: KubeObject): string | undefined {
  const workload = metadata.labels?.[workloadLabel];
  return workload === undefined ? undefined : `${metadata.namespace ?? ''}/${workload}`;
}

function insert(groups: Map<string, Map<string, KubeObject>>, group: string, object: KubeObject): void {
  const objects = groups.get(group) ?? new Map<string, KubeObject>();
  groups.set(group, objects.set(object.metadata.name, object));
}

/** Groups that are empty go too: namespaces come and go for years. */
function remove(groups: Map<string, Map<string, KubeObject>>, group: string, name: string): void {
  const objects = groups.get(group);
  objects?.delete(name);
  if (objects?.size === 0) groups.delete(group);
}
