import { ResourceError } from '../../../api/resource-error.ts';
import type { Cache, KubeApi, KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { ResourceRef } from '../../../contract/workload.ts';
import { encodeData, secretData } from './made-secret.ts';
import { managedBy, ownedLabels, ownerLabel } from '../objects/labels.ts';
import { asRefusal } from '../workload/object-writer.ts';
import { keptSecretName, type AcceptanceStore } from '../../../reconcile/identity-provider/accepted-providers.ts';
import { acceptedRootName } from '../../../reconcile/tenant/accepted-roots.ts';
import { type AcceptedRootStore } from '../../../reconcile/reconciler-options.ts';

interface OwnedSecretsOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (ref: ResourceRef) => OwnerReference | undefined;
}

/** Secrets in which the operator stores its own data about a resource. The resource owns each of them, so they are deleted with it. */
class OwnedSecrets {
  readonly #options: OwnedSecretsOptions;
  readonly #label: string;

  /** `label` marks the Secrets of one purpose. */
  constructor(options: OwnedSecretsOptions, label: string) {
    this.#options = options;
    this.#label = label;
  }

  isOurs({ metadata: { labels = {} } }: KubeObject): boolean {
    return labels['app.kubernetes.io/managed-by'] === managedBy && labels[this.#label] === 'true';
  }

  async find(name: string): Promise<KubeObject | undefined> {
    const { api, secrets, namespace } = this.#options;
    return secrets.get(namespace, name) ?? (await api.get(secrets.type, namespace, name));
  }

  /** Returns the existing Secret of the operator. `what` names its content in the `ResourceError` for a Secret of another owner. */
  async findOwn(name: string, what: string): Promise<KubeObject | undefined> {
    const live = await this.find(name);
    if (live === undefined || this.isOurs(live)) return live;
    throw new ResourceError(
      'Conflict',
      `Secret ${name} was not made by the operator, which keeps under that name ${what}: ` +
        'give one of the two another name, or delete the Secret if nothing needs it',
    );
  }

  /** Errors with a `ResourceError` or a `KubeError`, and when the resource is gone. */
  async write(name: string, ref: ResourceRef, data: Readonly<Record<string, string>>): Promise<void> {
    const { api, secrets, namespace, owner } = this.#options;
    const reference = owner(ref);
    if (reference === undefined) throw new Error(`${ref.kind} ${ref.name} is gone`);
    const secret: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: { ...ownedLabels(ref), [this.#label]: 'true' },
        ownerReferences: [reference],
      },
      type: 'Opaque',
      data: encodeData(data),
    };
    try {
      secrets.wrote(await api.apply(secret));
    } catch (error) {
      throw asRefusal(error, secret);
    }
  }
}

const dataKey = 'accepted.json';

/** Stores the accepted version of each IdentityProvider in a Secret `<name>-accepted` that the IdentityProvider owns. */
export class AcceptedStore implements AcceptanceStore {
  readonly #options: OwnedSecretsOptions;
  readonly #kept: OwnedSecrets;

  constructor(options: OwnedSecretsOptions) {
    this.#options = options;
    this.#kept = new OwnedSecrets(options, 'coffer.dev/accepted');
  }

  /** Returns the last saved text by provider. Reads the cache, which must be synced. */
  load(): ReadonlyMap<string, string> {
    const { secrets, namespace } = this.#options;
    const found = new Map<string, string>();
    for (const secret of secrets.list(namespace)) {
      const provider = secret.metadata.labels?.[ownerLabel];
      const text = secretData(secret)[dataKey];
      if (this.#kept.isOurs(secret) && provider !== undefined && text !== undefined) found.set(provider, text);
    }
    return found;
  }

  /** Writes nothing when the text is stored already. Errors with `KubeError` and `ResourceError`, and when the provider is gone. */
  async save(provider: string, text: string): Promise<void> {
    const name = keptSecretName(provider);
    const live = await this.#kept.findOwn(name, `the accepted version of IdentityProvider ${provider}`);
    if (secretData(live)[dataKey] === text) return;
    await this.#kept.write(name, { kind: 'IdentityProvider', name: provider }, { [dataKey]: text });
  }

  async remove(provider: string): Promise<void> {
    const { api, secrets, namespace } = this.#options;
    const name = keptSecretName(provider);
    const live = secrets.get(namespace, name);
    if (live === undefined || !this.#kept.isOurs(live)) return;
    await api.delete(secrets.type, namespace, name, { uid: live.metadata.uid });
    secrets.deleted(namespace, name);
  }
}

/** Stores the accepted root credentials in a Secret `<name>-root-accepted` that the Tenant owns. */
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
    // A Secret of a deleted tenant with the same name does not count for this one.
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

  /** The garbage collector of Kubernetes deletes the Secret with its Tenant. */
  remove(): Promise<void> {
    return Promise.resolve();
  }
}

function isOwnedBy({ metadata: { ownerReferences = [] } }: KubeObject, owner: OwnerReference | undefined): boolean {
  return ownerReferences.some(({ uid }) => uid === owner?.uid);
}
