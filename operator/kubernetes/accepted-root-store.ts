import type { KubeObject, OwnerReference } from '../kube/kube-api.ts';
import { acceptedRootName, type AcceptedRootStore } from '../reconcile/accepted-roots.ts';
import { secretData } from './certificates/secret-data.ts';
import { OwnedSecrets, type OwnedSecretsOptions } from './owned-secrets.ts';

/** Keeps the root credentials that servers take in a Secret `<name>-root-accepted` that the Tenant owns. */
export class KubernetesAcceptedRoots implements AcceptedRootStore {
  readonly #options: OwnedSecretsOptions;
  readonly #kept: OwnedSecrets;

  constructor(options: OwnedSecretsOptions) {
    this.#options = options;
    this.#kept = new OwnedSecrets(options, 'coffer.dev/accepted-root');
  }

  async load(tenant: string): Promise<Readonly<Record<string, string>> | undefined> {
    const live = await this.#kept.find(acceptedRootName(tenant));
    const owner = this.#options.owner({ kind: 'Tenant', name: tenant });
    // What is left of a tenant of that name that was deleted says nothing of this one.
    if (live === undefined || !this.#kept.isOurs(live) || !isOwnedBy(live, owner)) return undefined;
    return Object.fromEntries(
      Object.entries(secretData(live)).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    );
  }

  async save(tenant: string, data: Readonly<Record<string, string>>): Promise<void> {
    const name = acceptedRootName(tenant);
    await this.#kept.findOwn(name, `the root credentials that servers of Tenant ${tenant} take`);
    await this.#kept.write(name, { kind: 'Tenant', name: tenant }, data);
  }

  /** The garbage collector takes it with its Tenant. */
  remove(): Promise<void> {
    return Promise.resolve();
  }
}

function isOwnedBy({ metadata: { ownerReferences = [] } }: KubeObject, owner: OwnerReference | undefined): boolean {
  return ownerReferences.some(({ uid }) => uid === owner?.uid);
}
