import type { Cache, KubeApi, KubeObject, OwnerReference } from '../kube/kube-api.ts';
import { acceptedRootName, type AcceptedRootStore } from '../reconcile/accepted-roots.ts';
import { ForeignObject } from '../reconcile/foreign-object.ts';
import { encodeData, secretData } from './certificates/secret-data.ts';
import { managedBy, ownedLabels } from './objects/labels.ts';

export interface AcceptedRootStoreOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: { readonly kind: 'Tenant'; readonly name: string }) => OwnerReference | undefined;
}

/** On the Secrets of this store, and nowhere else. */
const acceptedLabel = 'coffer.dev/accepted-root';

/** Keeps the root credentials that servers take in a Secret `<name>-root-accepted` that the Tenant owns. */
export class KubernetesAcceptedRoots implements AcceptedRootStore {
  readonly #options: AcceptedRootStoreOptions;

  constructor(options: AcceptedRootStoreOptions) {
    this.#options = options;
  }

  async load(tenant: string): Promise<Readonly<Record<string, string>> | undefined> {
    const live = await this.#find(tenant);
    const owner = this.#options.owner({ kind: 'Tenant', name: tenant });
    // What is left of a tenant of that name that was deleted says nothing of this one.
    if (live === undefined || !isOurs(live) || !isOwnedBy(live, owner)) return undefined;
    return Object.fromEntries(
      Object.entries(secretData(live)).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    );
  }

  async save(tenant: string, data: Readonly<Record<string, string>>): Promise<void> {
    const { api, secrets, namespace, owner } = this.#options;
    const name = acceptedRootName(tenant);
    const live = await this.#find(tenant);
    if (live !== undefined && !isOurs(live)) {
      throw new ForeignObject(
        `Secret ${name} was not made by the operator, which keeps under that name the root credentials that servers of ` +
          `Tenant ${tenant} take: give one of the two another name, or delete the Secret if nothing needs it`,
      );
    }
    const about = { kind: 'Tenant', name: tenant } as const;
    const reference = owner(about);
    if (reference === undefined) throw new Error(`Tenant ${tenant} is gone`);
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
      data: encodeData(data),
    });
    secrets.wrote(written);
  }

  /** The garbage collector takes it with its Tenant. */
  remove(): Promise<void> {
    return Promise.resolve();
  }

  async #find(tenant: string): Promise<KubeObject | undefined> {
    const { api, secrets, namespace } = this.#options;
    const name = acceptedRootName(tenant);
    return secrets.get(namespace, name) ?? (await api.get(secrets.type, namespace, name));
  }
}

function isOurs({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels['app.kubernetes.io/managed-by'] === managedBy && labels[acceptedLabel] === 'true';
}

function isOwnedBy({ metadata: { ownerReferences = [] } }: KubeObject, owner: OwnerReference | undefined): boolean {
  return ownerReferences.some(({ uid }) => uid === owner?.uid);
}
