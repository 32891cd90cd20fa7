import type { ApiObject } from './api-object.ts';
import { type Change, type ObjectStore, TickQueue } from './object-store.ts';
import type { Operations } from './operations.ts';

/**
 * Deletes what has no owner left, empties namespaces that are deleted, and ends foreground and orphaning deletions.
 *
 * @see https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
export class GarbageCollector {
  readonly #store: ObjectStore;
  readonly #operations: Operations;
  readonly #uids = new Set<string>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #queue = new TickQueue((key) => this.#look(key));
  readonly #stop: () => void;

  constructor(store: ObjectStore, operations: Operations) {
    this.#store = store;
    this.#operations = operations;
    this.#stop = store.onChange((change) => this.#see(change));
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
  }

  #see({ resource, before, after, shown }: Change): void {
    const key = [resource, shown.metadata.namespace ?? '', shown.metadata.name].join(' ');
    for (const { uid } of before?.metadata.ownerReferences ?? []) this.#dependents.get(uid)?.delete(key);
    for (const { uid } of after?.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(uid) ?? new Set();
      this.#dependents.set(uid, dependents.add(key));
    }
    if (after === undefined) this.#seeDeleted(shown);
    else {
      this.#uids.add(after.metadata.uid);
      const isOwned = (after.metadata.ownerReferences ?? []).length > 0 && before === undefined;
      if (isOwned || after.metadata.deletionTimestamp !== undefined) this.#queue.add(key);
    }
  }

  #seeDeleted({ metadata: { uid, namespace, ownerReferences = [] } }: ApiObject): void {
    this.#uids.delete(uid);
    for (const dependent of this.#dependents.get(uid) ?? []) this.#queue.add(dependent);
    for (const owner of ownerReferences) this.#lookAtOwner(owner.uid);
    if (namespace === undefined) return;
    const terminating = this.#store.get('namespaces', undefined, namespace)?.metadata.deletionTimestamp !== undefined;
    if (terminating) this.#queue.add(`namespaces  ${namespace}`);
  }

  #lookAtOwner(uid: string): void {
    for (const resource of this.#store.resources) {
      for (const { metadata } of this.#store.list(resource)) {
        if (metadata.uid === uid && metadata.deletionTimestamp !== undefined) {
          this.#queue.add([resource, metadata.namespace ?? '', metadata.name].join(' '));
        }
      }
    }
  }

  #look(key: string): void {
    const [resource = '', namespace = '', name = ''] = key.split(' ');
    const object = this.#store.get(resource, namespace || undefined, name);
    if (object === undefined) return;
    const target = { resource, namespace: namespace || undefined, name };
    const owners = object.metadata.ownerReferences ?? [];
    if (object.metadata.deletionTimestamp !== undefined) this.#finish(resource, object);
    else if (owners.length > 0 && owners.every(({ uid }) => !this.#uids.has(uid))) this.#operations.delete(target, {});
  }

  #finish(resource: string, object: ApiObject): void {
    const { finalizers = [], uid, name } = object.metadata;
    if (resource === 'namespaces') this.#empty(object);
    const dependents = [...(this.#dependents.get(uid) ?? [])];
    if (finalizers.includes('orphan')) {
      for (const key of dependents) {
        const dependent = this.#find(key);
        if (dependent === undefined) continue;
        this.#disown(dependent.resource, dependent.object, uid);
      }
      this.#dropFinalizer(resource, object, 'orphan');
    } else if (finalizers.includes('foregroundDeletion')) {
      for (const key of dependents) {
        const { resource: kind = '', object: dependent } = this.#find(key) ?? {};
        if (dependent === undefined || dependent.metadata.deletionTimestamp !== undefined) continue;
        const others = (dependent.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
        // An object with another owner that exists loses the reference and stays.
        if (others.some((owner) => this.#uids.has(owner.uid))) this.#disown(kind, dependent, uid);
        else
          this.#operations.delete(
            { resource: kind, namespace: dependent.metadata.namespace, name: dependent.metadata.name },
            {},
          );
      }
      const blocked = [...(this.#dependents.get(uid) ?? [])].some((key) =>
        this.#find(key)?.object.metadata.ownerReferences?.some(
          (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
        ),
      );
      if (!blocked) this.#dropFinalizer(resource, object, 'foregroundDeletion');
      else this.#queue.add([resource, object.metadata.namespace ?? '', name].join(' '));
    }
  }

  #disown(resource: string, object: ApiObject, uid: string): void {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
    this.#store.write(resource, { ...object, metadata: { ...object.metadata, ownerReferences } });
  }

  #find(key: string): { readonly resource: string; readonly object: ApiObject } | undefined {
    const [resource = '', namespace = '', name = ''] = key.split(' ');
    const object = this.#store.get(resource, namespace || undefined, name);
    return object === undefined ? undefined : { resource, object };
  }

  #dropFinalizer(resource: string, object: ApiObject, finalizer: string): void {
    const finalizers = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer);
    const next = this.#store.write(resource, { ...object, metadata: { ...object.metadata, finalizers } });
    if (finalizers.length === 0) this.#store.remove(resource, next);
  }

  #empty(namespace: ApiObject): void {
    const { name } = namespace.metadata;
    const contents = this.#store.resources.flatMap((resource) =>
      this.#store.list(resource, name).map(({ metadata }) => ({ resource, metadata })),
    );
    if (contents.length === 0) {
      this.#store.remove('namespaces', namespace);
      return;
    }
    for (const { resource, metadata } of contents) {
      if (metadata.deletionTimestamp === undefined && this.#store.get(resource, name, metadata.name) !== undefined) {
        this.#operations.delete({ resource, namespace: name, name: metadata.name }, {});
      }
    }
  }
}
