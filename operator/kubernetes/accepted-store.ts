import { keptSecretName, type AcceptanceStore } from '../reconcile/accepted-providers.ts';
import { secretData } from './certificates/secret-data.ts';
import { ownerLabel } from './objects/labels.ts';
import { OwnedSecrets, type OwnedSecretsOptions } from './owned-secrets.ts';

const dataKey = 'accepted.json';

/** Keeps the accepted version of each IdentityProvider in a Secret `<name>-accepted` that the IdentityProvider owns. */
export class AcceptedStore implements AcceptanceStore {
  readonly #options: OwnedSecretsOptions;
  readonly #kept: OwnedSecrets;

  constructor(options: OwnedSecretsOptions) {
    this.#options = options;
    this.#kept = new OwnedSecrets(options, 'coffer.dev/accepted');
  }

  /** By provider, what `save` was given last. Reads the cache, which must be synced. */
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

  /** Writes nothing when that is kept already. Errors with `KubeError` and `ForeignObject`, and where the provider is gone. */
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
    await api.delete(secrets.type, namespace, name, live.metadata.uid === undefined ? {} : { uid: live.metadata.uid });
    secrets.deleted(namespace, name);
  }
}
