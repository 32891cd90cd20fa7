import type { Cache, KubeApi, KubeObject, OwnerReference } from '../kube/kube-api.ts';
import { ForeignObject } from '../reconcile/foreign-object.ts';
import type { ResourceReference } from '../workload.ts';
import { encodeData } from './certificates/secret-data.ts';
import { managedBy, ownedLabels } from './objects/labels.ts';
import { asRefusal } from './refusal.ts';

export interface OwnedSecretsOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: ResourceReference) => OwnerReference | undefined;
}

/** Secrets in which the operator keeps something of a resource for itself; each is the resource's, and goes with it. */
export class OwnedSecrets {
  readonly #options: OwnedSecretsOptions;
  readonly #label: string;

  /** `label` is on the Secrets of one purpose, and nowhere else. */
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

  /** The one that is there, if it is ours. `what` is kept in it, for the `ForeignObject` that somebody else's is told by. */
  async findOwn(name: string, what: string): Promise<KubeObject | undefined> {
    const live = await this.find(name);
    if (live === undefined || this.isOurs(live)) return live;
    throw new ForeignObject(
      `Secret ${name} was not made by the operator, which keeps under that name ${what}: ` +
        'give one of the two another name, or delete the Secret if nothing needs it',
    );
  }

  /** Errors with a `RefusedObject` or a `KubeError`, and where the resource is gone. */
  async write(name: string, about: ResourceReference, data: Readonly<Record<string, string>>): Promise<void> {
    const { api, secrets, namespace, owner } = this.#options;
    const reference = owner(about);
    if (reference === undefined) throw new Error(`${about.kind} ${about.name} is gone`);
    const secret: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: { ...ownedLabels(about), [this.#label]: 'true' },
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
