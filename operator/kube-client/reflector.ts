import { KubeError, watchInactivityMs, type KubeApi, type KubeObject } from './kube-api.ts';
import type { ResourceCache } from './resource-cache.ts';
import { type Backoff, backoffMs, pause } from '../../platform/async/backoff.ts';

interface ReflectorOptions {
  readonly api: Pick<KubeApi, 'list' | 'watch'>;
  /** Each of its namespaces has a watch; without namespaces one watch covers all. */
  readonly cache: ResourceCache;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly random: () => number;
  /** Called when a list fails or a watch ends before its time, which is unusual for the type. The reflector tries again. */
  readonly restarted?: (error: unknown) => void;
  readonly timing?: Partial<ReflectorTiming>;
}

interface ReflectorTiming extends Backoff {
  /** Milliseconds after which a watch counts as good: the next one begins at once. */
  readonly steadyMs: number;
  readonly pageSize: number;
}

const usual: ReflectorTiming = { firstMs: 500, maxMs: 30_000, steadyMs: 10_000, pageSize: 500 };

const failuresBeforeList = 3;

/** Keeps a cache equal to the API server: it lists, then watches, and repeats both until `stop`. */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #timing: ReflectorTiming;
  readonly #stop = new AbortController();
  #running: readonly Promise<void>[] = [];

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#timing = { ...usual, ...options.timing };
  }

  start(): void {
    if (this.#running.length > 0) return;
    this.#running = (this.#options.cache.namespaces ?? [undefined]).map((namespace) => this.#follow(namespace));
  }

  /** Resolves when no list or watch is open. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #follow(namespace: string | undefined): Promise<void> {
    const { signal } = this.#stop;
    const position: Position = { version: undefined };
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      let asked = 0;
      try {
        position.version ??= await this.#list(namespace);
        await this.#watch(namespace, position);
      } catch (error) {
        if (signal.aborted) return;
        const gone = isGone(error);
        if (gone) position.version = undefined;
        if (error instanceof KubeError) asked = error.retryAfterMs ?? 0;
        // The version of a quiet watch without bookmarks grows too old: the server forgets changes after some minutes.
        if (!gone || this.#hasBookmarks) this.#options.restarted?.(error);
      }
      // A server that closes the stream at once, even without an error, is asked less and less often.
      failures = performance.now() - began >= this.#timing.steadyMs ? 0 : failures + 1;
      // A server that was restored from a backup does not know the position. A list repairs every such case.
      if (failures >= failuresBeforeList) position.version = undefined;
      const delay = Math.max(asked, backoffMs(failures, this.#timing, this.#options.random));
      if (delay > 0) await pause(delay, signal);
    }
  }

  /** Returns the version of the list. A list that grows too old between two pages errors with 410, and `#follow` starts again. */
  async #list(namespace: string | undefined): Promise<string> {
    const { api, cache } = this.#options;
    const objects: KubeObject[] = [];
    let next: string | undefined;
    do {
      const page = await api.list(cache.type, {
        ...this.#selection(namespace),
        limit: this.#timing.pageSize,
        continue: next,
      });
      // Trim page by page, so that the full objects are never in memory together.
      for (const item of page.items) objects.push(cache.trim(item));
      next = page.continue;
      if (next === undefined) {
        cache.replace(objects, page.resourceVersion, namespace);
        return page.resourceVersion;
      }
    } while (!this.#stop.signal.aborted);
    throw new KubeError(undefined, 'Aborted', 'stopped');
  }

  async #watch(namespace: string | undefined, position: Position): Promise<void> {
    const { api, cache, random } = this.#options;
    const events = api.watch(cache.type, {
      ...this.#selection(namespace),
      resourceVersion: position.version ?? '',
      // The watches of all caches do not end together.
      timeoutSeconds: this.#hasBookmarks ? 300 + Math.floor(random() * 300) : shortWatchSeconds(random()),
    });
    for await (const event of events) {
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          cache.take(event.object);
          position.version = event.object.metadata.resourceVersion ?? position.version;
          break;
        case 'DELETED':
          cache.drop(event.object);
          position.version = event.object.metadata.resourceVersion ?? position.version;
          break;
        case 'BOOKMARK':
          position.version = event.resourceVersion;
          break;
        default:
          event satisfies never;
      }
    }
  }

  get #hasBookmarks(): boolean {
    return this.#options.cache.type.hasBookmarks ?? true;
  }

  #selection(namespace: string | undefined) {
    const { labelSelector, fieldSelector } = this.#options;
    return {
      namespace,
      labelSelector,
      fieldSelector,
      signal: this.#stop.signal,
    };
  }
}

/** Without bookmarks a quiet watch sends nothing until the server ends it. This must come before the client takes it for dead. */
function shortWatchSeconds(random: number): number {
  return Math.floor((watchInactivityMs / 1_000) * (0.4 + 0.4 * random));
}

/** The version at which the next watch continues; undefined means that a list is needed first. */
interface Position {
  version: string | undefined;
}

/** Reports whether the server no longer has the changes since the version of the watch. */
function isGone(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}
