import { randomUUID } from 'node:crypto';
import { sameJson, timestamp, type ApiObject, ApiError } from './api-object.ts';

/** Keys that a simulated controller has yet to look at, each once, some ticks after what made it look. */
export class TickQueue {
  readonly #keys = new Set<string>();
  readonly #process: (key: string) => void;
  #scheduled: NodeJS.Immediate | undefined;
  #stopped = false;

  constructor(process: (key: string) => void) {
    this.#process = process;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#keys.add(key);
    this.#scheduled ??= setImmediate(() => this.#run());
  }

  stop(): void {
    this.#stopped = true;
    this.#keys.clear();
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
  }

  #run(): void {
    this.#scheduled = undefined;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) this.#process(key);
  }
}

export interface Change {
  readonly version: number;
  readonly resource: string;
  /** Undefined for a new object. */
  readonly before: ApiObject | undefined;
  /** Undefined for a deleted one. */
  readonly after: ApiObject | undefined;
  /** What a watch shows: the object, or as it was last, with the version of its deletion. */
  readonly shown: ApiObject;
}

/** Objects in memory, each change with a version of its own, and the latest changes for watches to start from. */
export class ObjectStore {
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #history: number;
  #changes: Change[] = [];
  #version = 1000;
  #oldest = 1000;

  constructor(history: number) {
    this.#history = history;
  }

  get version(): number {
    return this.#version;
  }

  get(resource: string, namespace: string | undefined, name: string): ApiObject | undefined {
    return this.#objects.get(resource)?.get(keyOf(namespace, name));
  }

  /** Sorted by namespace and name. */
  list(resource: string, namespace?: string): ApiObject[] {
    const all = [...(this.#objects.get(resource)?.values() ?? [])];
    const wanted = namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
    return wanted.sort((a, b) =>
      keyOf(a.metadata.namespace, a.metadata.name) < keyOf(b.metadata.namespace, b.metadata.name) ? -1 : 1,
    );
  }

  get resources(): string[] {
    return [...this.#objects.keys()];
  }

  /** Keeps the object as it is, or says so where it is as before; only its version is the store's. */
  write(resource: string, object: ApiObject): ApiObject {
    const before = this.get(resource, object.metadata.namespace, object.metadata.name);
    if (
      before !== undefined &&
      sameJson({ ...before, metadata: withoutVersion(before) }, { ...object, metadata: withoutVersion(object) })
    ) {
      return before;
    }
    const version = (this.#version += 1);
    const after = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    let ofResource = this.#objects.get(resource);
    if (ofResource === undefined) this.#objects.set(resource, (ofResource = new Map<string, ApiObject>()));
    ofResource.set(keyOf(after.metadata.namespace, after.metadata.name), after);
    this.#tell({ version, resource, before, after, shown: after });
    return after;
  }

  remove(resource: string, object: ApiObject): ApiObject {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const before = this.#objects.get(resource)?.get(key);
    if (before === undefined) return object;
    this.#objects.get(resource)?.delete(key);
    const version = (this.#version += 1);
    const shown = { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
    this.#tell({ version, resource, before, after: undefined, shown });
    return shown;
  }

  /** Changes of a resource after this version. Errors with 410 where they are no longer kept. */
  since(resource: string, version: number): Change[] {
    if (version < this.#oldest) throw ApiError.expired(`too old resource version: ${version} (${this.#oldest})`);
    return this.#changes.filter((change) => change.version > version && change.resource === resource);
  }

  /** Forgets all changes, so that a watch from any earlier version is 410. */
  compact(): void {
    this.#changes = [];
    this.#oldest = this.#version;
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > this.#history * 1.2) {
      this.#changes = this.#changes.slice(-this.#history);
      this.#oldest = (this.#changes[0]?.version ?? this.#version) - 1;
    }
    for (const listener of this.#listeners) listener(change);
  }
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** Metadata that every object gets at its creation. */
export function newMetadata(): Pick<ApiObject['metadata'], 'uid' | 'creationTimestamp' | 'resourceVersion'> {
  return { uid: randomUUID(), creationTimestamp: timestamp(), resourceVersion: '' };
}

function withoutVersion({ metadata: { resourceVersion: _version, ...rest } }: ApiObject): object {
  return rest;
}
