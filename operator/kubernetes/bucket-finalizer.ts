import { KubeError, type Cache, type KubeApi } from '../kube/kube-api.ts';
import { resourceTypes } from '../kube/resource-types.ts';
import type { BucketFinalizer } from '../reconcile/bucket-controller.ts';

export const bucketFinalizer = 'coffer.dev/bucket';

/** The finalizer of Buckets with deletionPolicy Delete: the one kind of object whose end has something to undo outside Kubernetes. */
export class KubernetesBucketFinalizer implements BucketFinalizer {
  readonly #api: Pick<KubeApi, 'patch'>;
  readonly #buckets: Cache;
  readonly #namespace: string;

  constructor(options: { readonly api: Pick<KubeApi, 'patch'>; readonly buckets: Cache; readonly namespace: string }) {
    this.#api = options.api;
    this.#buckets = options.buckets;
    this.#namespace = options.namespace;
  }

  async hold(name: string): Promise<void> {
    const bucket = this.#buckets.get(this.#namespace, name);
    // The API server refuses a new finalizer on what is being deleted.
    if (bucket === undefined || bucket.metadata.deletionTimestamp !== undefined) return;
    const finalizers = bucket.metadata.finalizers ?? [];
    if (!finalizers.includes(bucketFinalizer)) await this.#write(name, [...finalizers, bucketFinalizer]);
  }

  async release(name: string): Promise<void> {
    const finalizers = this.#buckets.get(this.#namespace, name)?.metadata.finalizers ?? [];
    if (!finalizers.includes(bucketFinalizer)) return;
    await this.#write(
      name,
      finalizers.filter((finalizer) => finalizer !== bucketFinalizer),
    );
  }

  /** With the version that the list was read from: another's finalizer of meanwhile is not lost, but is a conflict. */
  async #write(name: string, finalizers: readonly string[]): Promise<void> {
    const resourceVersion = this.#buckets.get(this.#namespace, name)?.metadata.resourceVersion;
    const metadata = { finalizers, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      this.#buckets.wrote(await this.#api.patch(resourceTypes.bucket, this.#namespace, name, { metadata }));
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 404)) throw error;
    }
  }
}
