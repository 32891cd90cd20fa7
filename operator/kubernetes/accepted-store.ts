import type { Cache, KubeApi, KubeObject, OwnerReference } from '../kube/kube-api.ts';
import { keptSecretName, type AcceptanceStore } from '../reconcile/accepted-providers.ts';
import { ForeignObject } from '../reconcile/foreign-object.ts';
import { encodeData, secretData } from './certificates/secret-data.ts';
import { managedBy, ownedLabels, ownerLabel } from './objects/labels.ts';

export interface AcceptedStoreOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: { readonly kind: 'IdentityProvider'; readonly name: string }) => OwnerReference | undefined;
}

/** On the Secrets of this store, and nowhere else. */
const acceptedLabel = 'coffer.dev/accepted';
const dataKey = 'accepted.json';

/** Keeps the accepted version of each IdentityProvider in a Secret `<name>-accepted` that the IdentityProvider owns. */
export class AcceptedStore implements AcceptanceStore {
  readonly #options: AcceptedStoreOptions;

  constructor(options: AcceptedStoreOptions) {
    this.#options = options;
  }

  /** By provider, what `save` was given last. Reads the cache, which must be synced. */
  load(): ReadonlyMap<string, string> {
    const { secrets, namespace } = this.#options;
    const found = new Map<string, string>();
    for (const secret of secrets.list(namespace)) {
      const provider = secret.metadata.labels?.[ownerLabel];
      const text = secretData(secret)[dataKey];
      if (isOurs(secret) && provider !== undefined && text !== undefined) found.set(provider, text);
    }
    return found;
  }

  /** Writes nothing when that is kept already. Errors with `KubeError` and `ForeignObject`, and where the provider is gone. */
  async save(provider: string, text: string): Promise<void> {
    const { api, secrets, namespace, owner } = this.#options;
    const name = keptSecretName(provider);
    const live = secrets.get(namespace, name) ?? (await api.get(secrets.type, namespace, name));
    if (live !== undefined && !isOurs(live)) {
      throw new ForeignObject(
        `Secret ${name} was not made by the operator, which keeps the accepted version of IdentityProvider ${provider} ` +
          'under that name: give one of the two another name, or delete the Secret if nothing needs it',
      );
    }
    if (secretData(live)[dataKey] === text) return;
    const about = { kind: 'IdentityProvider', name: provider } as const;
    const reference = owner(about);
    if (reference === undefined) throw new Error(`IdentityProvider ${provider} is gone`);
    const written = await api.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: { ...ownedLabels(about), [acceptedLabel]: 'true' },
        ownerReferences: [reference],
      },
      type: 'Opaque',
      data: encodeData({ [dataKey]: text }),
    });
    secrets.wrote(written);
  }

  async remove(provider: string): Promise<void> {
    const { api, secrets, namespace } = this.#options;
    const name = keptSecretName(provider);
    const live = secrets.get(namespace, name);
    if (live === undefined || !isOurs(live)) return;
    await api.delete(secrets.type, namespace, name, live.metadata.uid === undefined ? {} : { uid: live.metadata.uid });
    secrets.deleted(namespace, name);
  }
}

function isOurs({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels['app.kubernetes.io/managed-by'] === managedBy && labels[acceptedLabel] === 'true';
}
