import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { CertificateExpiry } from '../certificates/certificate-keeper.ts';
import { resourceCaches, type CacheName } from '../cluster-caches.ts';
import { isEnding } from '../workload/object-writer.ts';
import { kindOfCache, NamespaceScope, type NamespaceScopeOptions } from './namespace-scope.ts';
import { parseQueueKey } from '../../../reconcile/resources.ts';

/** Milliseconds that a namespace without resources is kept. */
const sweepMs = 60_000;

/** Milliseconds until a resource that is still there in a namespace that is being deleted is looked at again. */
const terminatingRetryMs = 30_000;

/** The namespaces with resources in them: they come with their first resource, and go with their last. */
export class NamespaceScopes {
  readonly #around: NamespaceScopeOptions;
  readonly #scopes = new Map<string, NamespaceScope>();
  #listening = false;
  #closed = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(around: NamespaceScopeOptions) {
    this.#around = around;
  }

  /** Follows the caches, which must be synced, and asks for a pass of every resource. */
  start(): void {
    if (this.#listening) return;
    this.#listening = true;
    for (const [name, cache] of this.#around.caches.entries()) {
      cache.onChange((before, after) => this.#onEvent(name, before, after));
    }
    for (const name of resourceCaches) {
      for (const object of this.#around.caches.get(name).list()) this.#welcome(name, object);
    }
    this.#lookAgainWhenKnown('serviceMonitors');
    this.#lookAgainWhenKnown('certificates');
  }

  /** One pass of a key of the queue. Errors when it has to be tried again. */
  async work(key: string): Promise<void> {
    const { namespace, ref } = parseQueueKey(key);
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return;
    try {
      await scope.reconcile(ref);
    } catch (error) {
      if (!isEnding(error)) throw error;
      this.#around.log.info({ namespace, ...ref }, 'the namespace is being deleted');
      // The resource may have a finalizer that waits for another resource.
      if (scope.has(ref)) this.#around.enqueue(namespace, ref, terminatingRetryMs);
    }
    if (scope.isDone) this.#sweepLater();
  }

  certificateExpiries(): readonly (CertificateExpiry & { readonly namespace: string })[] {
    return [...this.#scopes.values()].flatMap((scope) =>
      scope.certificateExpiries().map((expiry) => ({ ...expiry, namespace: scope.namespace })),
    );
  }

  /** To be called when no pass is under way. Nothing is written once it has resolved. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sweep);
    const scopes = [...this.#scopes.values()];
    this.#scopes.clear();
    await Promise.all(scopes.map((scope) => scope.close()));
  }

  #onEvent(name: CacheName, before: KubeObject | undefined, after: KubeObject | undefined): void {
    if (this.#closed) return;
    const namespace = (after ?? before)?.metadata.namespace ?? '';
    const known = this.#scopes.get(namespace);
    if (known !== undefined) known.onEvent(name, before, after);
    else if (after !== undefined && kindOfCache(name) !== undefined) this.#welcome(name, after);
  }

  /** Keys of other resources of a namespace may still be in the queue, and are worked on before it goes. */
  #sweepLater(): void {
    if (this.#sweep !== undefined) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      for (const [namespace, scope] of this.#scopes) {
        if (!scope.isDone) continue;
        this.#scopes.delete(namespace);
        void scope.close();
      }
    }, sweepMs).unref();
  }

  /** A resource was seen for the first time by this process. */
  #welcome(name: CacheName, object: KubeObject): void {
    const kind = kindOfCache(name);
    const { namespace = '' } = object.metadata;
    if (kind === undefined) return;
    let scope = this.#scopes.get(namespace);
    if (scope === undefined) {
      scope = new NamespaceScope(namespace, this.#around);
      this.#scopes.set(namespace, scope);
    }
    const ref = { kind, name: object.metadata.name };
    scope.onAdd(ref);
    this.#around.enqueue(namespace, ref, 0);
  }

  /** Resources may have waited for a type that the cluster did not know at first. */
  #lookAgainWhenKnown(name: CacheName): void {
    const cache = this.#around.caches.get(name);
    if (cache.isSynced) return;
    void cache.synced().then(() => this.#enqueueAll());
  }

  #enqueueAll(): void {
    for (const name of resourceCaches) {
      const kind = kindOfCache(name);
      if (kind === undefined) continue;
      for (const { metadata } of this.#around.caches.get(name).list()) {
        this.#around.enqueue(metadata.namespace ?? '', { kind, name: metadata.name });
      }
    }
  }
}
