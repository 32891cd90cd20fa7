import { isDeepStrictEqual } from 'node:util';
import { isNotFound, type Cache, type KubeApi, type KubeObject } from '../../../kube-client/kube-api.ts';
import { mergeConditions, type ResourceStatus } from '../../../reconcile/conditions.ts';
import { objectKey } from '../../../reconcile/resources.ts';
import type { StatusStore } from '../../../reconcile/reconciler-options.ts';
import type { ResourceRef } from '../../../contract/workload.ts';

interface KubernetesStatusOptions {
  readonly api: Pick<KubeApi, 'applyStatus'>;
  /** Returns the custom resource from the cache. */
  readonly object: (ref: ResourceRef) => KubeObject | undefined;
  readonly cache: (ref: ResourceRef) => Pick<Cache, 'wrote'>;
  readonly now: () => Date;
}

/** Stores statuses in the status subresource, and writes nothing when nothing changed. */
export class KubernetesStatus implements StatusStore {
  readonly #options: KubernetesStatusOptions;
  /** Generations at the start of the reconciles under way, by `Kind/name`. */
  readonly #generations = new Map<string, number>();
  /** Writes under way, by `Kind/name`. They run one after the other, so that the last one wins. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor(options: KubernetesStatusOptions) {
    this.#options = options;
  }

  get(ref: ResourceRef): ResourceStatus | undefined {
    const status = this.#options.object(ref)?.['status'] as ResourceStatus | undefined;
    return Array.isArray(status?.conditions) ? status : undefined;
  }

  /**
   * Runs a reconcile. Its status reports the generation at its start: a spec that changes meanwhile must not count as reconciled.
   */
  async during(ref: ResourceRef, pass: () => Promise<void>): Promise<void> {
    const key = objectKey(ref);
    this.#generations.set(key, this.#currentGeneration(ref));
    try {
      await pass();
    } finally {
      this.#generations.delete(key);
    }
  }

  generation(ref: ResourceRef): number {
    return this.#generations.get(objectKey(ref)) ?? this.#currentGeneration(ref);
  }

  /** Errors with a `KubeError`. A missing object is not an error. */
  put(ref: ResourceRef, status: ResourceStatus): Promise<void> {
    return this.#write(ref, () => status);
  }

  /**
   * Writes a pending status for a resource without a status: without conditions Flux calls it current and Argo CD healthy.
   */
  initialStatus(ref: ResourceRef): Promise<void> {
    return this.#write(ref, () => (this.get(ref) === undefined ? this.#unknown(ref) : undefined));
  }

  async #write(ref: ResourceRef, status: () => ResourceStatus | undefined): Promise<void> {
    const key = objectKey(ref);
    const before = this.#writes.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#writes.set(key, promise);
    try {
      await before;
      await this.#writeNow(ref, status());
    } finally {
      resolve();
      if (this.#writes.get(key) === promise) this.#writes.delete(key);
    }
  }

  async #writeNow(ref: ResourceRef, status: ResourceStatus | undefined): Promise<void> {
    const object = this.#options.object(ref);
    if (object === undefined || status === undefined) return;
    const json = JSON.parse(JSON.stringify(status)) as ResourceStatus;
    if (isDeepStrictEqual(json, object['status'])) return;
    const { name, namespace } = object.metadata;
    try {
      const written = await this.#options.api.applyStatus({
        apiVersion: object.apiVersion,
        kind: object.kind,
        metadata: { name, namespace },
        status: json,
      });
      this.#options.cache(ref).wrote(written);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #unknown(ref: ResourceRef): ResourceStatus {
    const generation = this.#currentGeneration(ref);
    const message = 'the operator has seen it, and has not begun yet';
    const conditions = mergeConditions(
      [],
      [
        { type: 'Ready', status: 'Unknown', reason: 'Pending', message },
        { type: 'Reconciling', status: 'True', reason: 'Pending', message },
      ],
      generation,
      this.#options.now(),
    );
    return { observedGeneration: generation, conditions };
  }

  #currentGeneration(ref: ResourceRef): number {
    return this.#options.object(ref)?.metadata.generation ?? 0;
  }
}
