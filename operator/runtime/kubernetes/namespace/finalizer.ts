import { isNotFound, type Cache, type KubeApi } from '../../../kube-client/kube-api.ts';
import type { ResourceFinalizer, FinalizedRef } from '../../../reconcile/managed/controller.ts';

function finalizerOf(kind: FinalizedRef['kind']): string {
  return `coffer.dev/${kind.toLowerCase()}`;
}

interface KubernetesFinalizerOptions {
  readonly api: Pick<KubeApi, 'patch'>;
  readonly cache: (kind: FinalizedRef['kind']) => Cache;
  readonly namespace: string;
}

/**
 * Sets the finalizers of managed resources with deletionPolicy Delete, whose deletion removes an object outside Kubernetes, and of a
 * KMSConfig that tenants use, since their data is lost without its keys.
 */
export class KubernetesFinalizer implements ResourceFinalizer {
  readonly #options: KubernetesFinalizerOptions;

  constructor(options: KubernetesFinalizerOptions) {
    this.#options = options;
  }

  async hold(ref: FinalizedRef): Promise<void> {
    const object = this.#find(ref);
    // The API server refuses a new finalizer on an object that is being deleted.
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const own = finalizerOf(ref.kind);
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(own)) await this.#write(ref, [...finalizers, own]);
  }

  async release(ref: FinalizedRef): Promise<void> {
    const own = finalizerOf(ref.kind);
    const finalizers = this.#find(ref)?.metadata.finalizers ?? [];
    if (!finalizers.includes(own)) return;
    await this.#write(
      ref,
      finalizers.filter((finalizer) => finalizer !== own),
    );
  }

  #find({ kind, name }: FinalizedRef) {
    return this.#options.cache(kind).get(this.#options.namespace, name);
  }

  /** Sends the version that the list was read from, so that a concurrent finalizer causes a conflict and is not lost. */
  async #write(ref: FinalizedRef, finalizers: readonly string[]): Promise<void> {
    const { api, namespace } = this.#options;
    const cache = this.#options.cache(ref.kind);
    const resourceVersion = this.#find(ref)?.metadata.resourceVersion;
    const metadata = { finalizers, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      cache.wrote(await api.patch(cache.type, namespace, ref.name, { metadata }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
