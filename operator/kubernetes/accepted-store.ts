import type { Cache, KubeApi, OwnerReference } from '../kube/kube-api.ts';

export interface AcceptedStoreOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: { readonly kind: 'IdentityProvider'; readonly name: string }) => OwnerReference | undefined;
}

/** Keeps the accepted version of each IdentityProvider in a Secret `<name>-accepted` that the IdentityProvider owns. */
export class AcceptedStore {
  readonly #options: AcceptedStoreOptions;

  constructor(options: AcceptedStoreOptions) {
    this.#options = options;
  }

  /** By provider, what `save` was given last. Reads the cache, which must be synced. */
  load(): ReadonlyMap<string, string> {
    throw new Error(`not built yet: ${this.#options.namespace}`);
  }

  /** Writes nothing when that is kept already. Errors with a `KubeError`. */
  save(_provider: string, _text: string): Promise<void> {
    throw new Error('not built yet');
  }

  remove(_provider: string): Promise<void> {
    throw new Error('not built yet');
  }
}
