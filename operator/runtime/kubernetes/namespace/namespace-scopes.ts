import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { CertificateExpiry } from '../certificates/certificate-keeper.ts';
import { resourceCaches, type CacheName } from '../cluster-caches.ts';
import { isEnding } from '../workload/object-writer.ts';
import { kindOfCache, Space, type SpaceSurroundings } from './namespace-scope.ts';
import { parseQueueKey } from '../../../reconcile/resources.ts';

/** Milliseconds that a namespace without resources is kept. */
const sweepMs = 60_000;

/** Milliseconds until a resource that is still there in a namespace that is being deleted is looked at again. */
const endingAgainMs = 30_000;

/** The namespaces with resources in them: they come with their first resource, and go with their last. */
export class Spaces {
  readonly #around: SpaceSurroundings;
  readonly #spaces = new Map<string, Space>();
  #listening = false;
  #closed = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(around: SpaceSurroundings) {
    this.#around = around;
  }

  /** Follows the caches, which must be synced, and asks for a pass of every resource. */
  start(): void {
    if (this.#listening) return;
    this.#listening = true;
    for (const [name, cache] of this.#around.caches.entries()) {
      cache.onChange((before, after) => this.#noticed(name, before, after));
    }
    for (const name of resourceCaches) {
      for (const object of this.#around.caches.get(name).list()) this.#welcome(name, object);
    }
    this.#lookAgainWhenKnown('serviceMonitors');
    this.#lookAgainWhenKnown('certificates');
  }

  /** One pass of a key of the queue. Errors when it has to be tried again. */
  async work(key: string): Promise<void> {
    const { namespace, about } = parseQueueKey(key);
    const space = this.#spaces.get(namespace);
    if (space === undefined) return;
    try {
      await space.reconcile(about);
    } catch (error) {
      if (!isEnding(error)) throw error;
      this.#around.log.info({ namespace, ...about }, 'the namespace is being deleted');
      // The resource may have a finalizer that waits for another resource.
      if (space.has(about)) this.#around.enqueue(namespace, about, endingAgainMs);
    }
    if (space.isDone) this.#sweepLater();
  }

  certificateExpiries(): readonly (CertificateExpiry & { readonly namespace: string })[] {
    return [...this.#spaces.values()].flatMap((space) =>
      space.certificateExpiries().map((expiry) => ({ ...expiry, namespace: space.namespace })),
    );
  }

  /** To be called when no pass is under way. Nothing is written once it has resolved. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sweep);
    const spaces = [...this.#spaces.values()];
    this.#spaces.clear();
    await Promise.all(spaces.map((space) => space.close()));
  }

  #noticed(name: CacheName, before: KubeObject | undefined, after: KubeObject | undefined): void {
    if (this.#closed) return;
    const namespace = (after ?? before)?.metadata.namespace ?? '';
    const known = this.#spaces.get(namespace);
    if (known !== undefined) known.noticed(name, before, after);
    else if (after !== undefined && kindOfCache(name) !== undefined) this.#welcome(name, after);
  }

  /** Keys of other resources of a namespace may still be in the queue, and are worked on before it goes. */
  #sweepLater(): void {
    if (this.#sweep !== undefined) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      for (const [namespace, space] of this.#spaces) {
        if (!space.isDone) continue;
        this.#spaces.delete(namespace);
        void space.close();
      }
    }, sweepMs).unref();
  }

  /** A resource was seen for the first time by this process. */
  #welcome(name: CacheName, object: KubeObject): void {
    const kind = kindOfCache(name);
    const { namespace = '' } = object.metadata;
    if (kind === undefined) return;
    let space = this.#spaces.get(namespace);
    if (space === undefined) {
      space = new Space(namespace, this.#around);
      this.#spaces.set(namespace, space);
    }
    const about = { kind, name: object.metadata.name };
    space.greet(about);
    this.#around.enqueue(namespace, about, 0);
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
