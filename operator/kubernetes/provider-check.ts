import type { IdentityProvider } from '../api/object.ts';
import type { Cache, KubeApi, KubeObject, OwnerReference } from '../kube/kube-api.ts';
import type { ProviderCheck } from '../reconcile/check-provider.ts';
import type { PodOptions, ResourceReference } from '../workload.ts';

export interface ProviderCheckOptions {
  readonly api: KubeApi;
  readonly pods: Cache;
  readonly namespace: string;
  readonly owner: (about: ResourceReference) => OwnerReference | undefined;
  /** The image of the operator. */
  readonly image: string;
  /** How pods of tenants that use the provider are pulled and placed. */
  readonly pod?: (provider: IdentityProvider) => PodOptions | undefined;
  /** Milliseconds from making the pod to its answer. */
  readonly timeoutMs?: number;
  readonly random: () => number;
}

/**
 * Checks identity providers of one namespace from its own network, by a short-lived pod each (label `app.kubernetes.io/component:
 * provider-check`) that runs `coffer-operator check-provider` and answers by its termination message.
 */
export class PodProviderCheck {
  readonly #options: ProviderCheckOptions;

  constructor(options: ProviderCheckOptions) {
    this.#options = options;
  }

  /** Never errors: what keeps the pod from running is a broken state of reason CheckFailed. */
  check(_provider: IdentityProvider, _clientSecret: string): Promise<ProviderCheck> {
    throw new Error(`not built yet: ${this.#options.namespace}`);
  }

  /** To be called with every change of a cached pod of this namespace. */
  noticed(_before: KubeObject | undefined, _after: KubeObject | undefined): void {
    throw new Error('not built yet');
  }

  /** Removes pods and Secrets that an operator before left behind; called once at start. */
  cleanUp(): Promise<void> {
    throw new Error('not built yet');
  }

  /** Answers every check that waits with a broken state. */
  close(): void {
    throw new Error('not built yet');
  }
}
