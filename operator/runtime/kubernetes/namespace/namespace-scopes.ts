import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { CertificateExpiry } from '../certificates/certificate-keeper.ts';
import { resourceCaches, type CacheName } from '../cluster-caches.ts';
import { isEnding } from '../workload/object-writer.ts';
import { kindOfCache, NamespaceScope, type NamespaceScopeOptions } from './namespace-scope.ts';
import { parseQueueKey } from '../../../reconcile/resources.ts';

/** Milliseconds that a namespace without resources is kept. */
const sweepMs = 60_000;

/** Milliseconds until a resource in a namespace that is being deleted is reconciled again. */
const terminatingRetryMs = 30_000;

/** The namespaces that have resources. A scope is made for the first resource and removed after the last. */
export class NamespaceScopes {
  readonly #options: NamespaceScopeOptions;
  readonly #scopes = new Map<string, NamespaceScope>();
  #listening = false;
  #closed = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: NamespaceScopeOptions) {
    this.#options = options;
  }

  /** Follows the caches, which must be synced, and enqueues every resource. */
  start(): void {
    if (this.#listening) return;
    this.#listening = true;
    for (const [name, cache] of this.#options.caches.entries()) {
      cache.onChange((before, after) => this.#onEvent(name, before, after));
    }
    for (const name of resourceCaches) {
      for (const object of this.#options.caches.get(name).list()) this.#onAdd(name, object);
    }
    this.#enqueueWhenKnown('serviceMonitors');
    this.#enqueueWhenKnown('certificates');
  }

  /** Reconciles a key of the queue. Errors when the queue has to retry. */
  async work(key: string): Promise<void> {
    const { namespace, ref } = parseQueueKey(key);
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return;
    try {
      await scope.reconcile(ref);
    } catch (error) {
      if (!isEnding(error)) throw error;
      this.#options.log.info({ namespace, ...ref }, 'the namespace is being deleted');
      // The resource may have a finalizer that waits for another resource.
      if (scope.has(ref)) this.#options.enqueue(namespace, ref, terminatingRetryMs);
    }
    if (scope.isDone) this.#sweepLater();
  }

  certificateExpiries(): readonly (CertificateExpiry & { readonly namespace: string })[] {
    return [...this.#scopes.values()].flatMap((scope) =>
      scope.certificateExpiries().map((expiry) => ({ ...expiry, namespace: scope.namespace })),
    );
  }

  /** Call it when no reconcile is under way. Nothing is written once it has resolved. */
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
    else if (after !== undefined && kindOfCache(name) !== undefined) this.#onAdd(name, after);
  }

  /** Waits with the removal, since the queue may still hold keys of the namespace. */
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

  /** Handles a resource that this process sees for the first time. */
  #onAdd(name: CacheName, object: KubeObject): void {
    const kind = kindOfCache(name);
    const { namespace = '' } = object.metadata;
    if (kind === undefined) return;
    let scope = this.#scopes.get(namespace);
    if (scope === undefined) {
      scope = new NamespaceScope(namespace, this.#options);
      this.#scopes.set(namespace, scope);
    }
    const ref = { kind, name: object.metadata.name };
    scope.onAdd(ref);
  }

  /** Enqueues all resources once the cluster knows the type: some may have waited for it. */
  #enqueueWhenKnown(name: CacheName): void {
    const cache = this.#options.caches.get(name);
    if (cache.isSynced) return;
    void cache.synced().then(() => this.#enqueueAll());
  }

  #enqueueAll(): void {
    for (const name of resourceCaches) {
      const kind = kindOfCache(name);
      if (kind === undefined) continue;
      for (const { metadata } of this.#options.caches.get(name).list()) {
        this.#options.enqueue(metadata.namespace ?? '', { kind, name: metadata.name });
      }
    }
  }
}
