import { KubeError, type Cache, type KubeApi } from '../../../kube-client/kube-api.ts';
import type { DeclaredFinalizer, HeldReference } from '../../../reconcile/managed/controller.ts';

function finalizerOf(kind: HeldReference['kind']): string {
  return `coffer.dev/${kind.toLowerCase()}`;
}

interface DeclaredFinalizerOptions {
  readonly api: Pick<KubeApi, 'patch'>;
  readonly cache: (kind: HeldReference['kind']) => Cache;
  readonly namespace: string;
}

/**
 * The finalizers of what has deletionPolicy Delete and is in a tenant's server, whose end has something to undo outside Kubernetes, and
 * of a KMSConfig that tenants use: without its keys their data is lost.
 */
export class KubernetesDeclaredFinalizer implements DeclaredFinalizer {
  readonly #options: DeclaredFinalizerOptions;

  constructor(options: DeclaredFinalizerOptions) {
    this.#options = options;
  }

  async hold(about: HeldReference): Promise<void> {
    const object = this.#find(about);
    // The API server refuses a new finalizer on what is being deleted.
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const own = finalizerOf(about.kind);
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(own)) await this.#write(about, [...finalizers, own]);
  }

  async release(about: HeldReference): Promise<void> {
    const own = finalizerOf(about.kind);
    const finalizers = this.#find(about)?.metadata.finalizers ?? [];
    if (!finalizers.includes(own)) return;
    await this.#write(
      about,
      finalizers.filter((finalizer) => finalizer !== own),
    );
  }

  #find({ kind, name }: HeldReference) {
    return this.#options.cache(kind).get(this.#options.namespace, name);
  }

  /** With the version that the list was read from: another's finalizer of meanwhile is not lost, but is a conflict. */
  async #write(about: HeldReference, finalizers: readonly string[]): Promise<void> {
    const { api, namespace } = this.#options;
    const cache = this.#options.cache(about.kind);
    const resourceVersion = this.#find(about)?.metadata.resourceVersion;
    const metadata = { finalizers, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      cache.wrote(await api.patch(cache.type, namespace, about.name, { metadata }));
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 404)) throw error;
    }
  }
}
