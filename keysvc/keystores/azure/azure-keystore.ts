import type { SecretProperties } from '@azure/keyvault-secrets';
import { readAuthorities } from '../../../platform/tls/tls-files.ts';
import { keyNameError } from '../../../protocol/key-service/names.ts';
import type { AzureKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError, type KeyStore } from '../keystore.ts';
import { confirmCreated } from '../remote/confirm-created.ts';
import { Remote, type RemoteOptions } from '../remote/remote.ts';
import { deleteSecret, whileBeingDeleted } from './azure-deletion.ts';
import { deletedButRecoverable, isSecretMissing, readFailure } from './azure-errors.ts';
import type { Environment } from './azure-login.ts';
import { AzureVault } from './azure-vault.ts';
import { keyNameOf, nameTag, settledVersion, versionsOf } from './azure-versions.ts';

/** @see https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates#vault-name-and-object-name */
const azureName = /^[0-9A-Za-z-]{1,127}$/;
/** @see https://learn.microsoft.com/azure/key-vault/secrets/about-secrets */
const maxValueBytes = 25_000;

/**
 * Reads the authorities of the settings and opens the vault.
 *
 * @throws KeyError `refused` when they cannot be read
 */
export async function openAzureKeyStore(settings: AzureKeyStoreSettings): Promise<AzureKeyStore> {
  const { caFile } = settings;
  if (caFile === undefined) return new AzureKeyStore(settings);
  try {
    return new AzureKeyStore(settings, { ca: (await readAuthorities(caFile)).toString() });
  } catch (cause) {
    throw new KeyError('refused', `keystore.azure.keyvault.tls: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Stores keys as secrets of an Azure Key Vault. A key is the oldest version of its secret (`oldestOf`), since the vault has no conditional
 * write.
 *
 * @see https://learn.microsoft.com/rest/api/keyvault/secrets/operation-groups
 */
export class AzureKeyStore implements KeyStore {
  readonly #vault: AzureVault;

  constructor(settings: AzureKeyStoreSettings, options: RemoteOptions = {}, environment: Environment = process.env) {
    this.#vault = new AzureVault(settings, new Remote(options), environment);
  }

  async create(name: string, record: Buffer): Promise<void> {
    this.#checkFits(name, record);
    const { all } = await versionsOf(this.#vault, name);
    if (all.length > 0) return confirmCreated(this, name, record, 'taken');
    const options = { tags: { [nameTag]: name }, enabled: true };
    const outcome = await whileBeingDeleted(this.#vault, () =>
      this.#vault.attempt((secrets) => secrets.setSecret(name, record.toString('utf8'), options)),
    );
    if ('refusal' in outcome) {
      throw readFailure(outcome.refusal).inner === deletedButRecoverable
        ? recoverable(name, this.#vault.endpoint)
        : this.#vault.error({ permission: 'Set', key: name }, outcome.refusal);
    }
    // A repeated request makes versions with the same bytes, so any of them is the created key.
    await confirmCreated(this, name, record, 'written');
  }

  async get(name: string): Promise<Buffer> {
    const { endpoint } = this.#vault;
    const version = azureName.test(name) ? await settledVersion(this.#vault, name) : undefined;
    if (version === undefined) throw notFound(name, endpoint);
    const outcome = await this.#vault.attempt((secrets) => secrets.getSecret(name, { version }));
    if ('refusal' in outcome) {
      if (isSecretMissing(outcome.refusal)) throw notFound(name, endpoint);
      throw this.#vault.error({ permission: 'Get', key: name }, outcome.refusal);
    }
    const { value, properties } = outcome.value;
    const reason = heldBack(properties, this.#vault.remote.clock.now());
    if (reason !== undefined) {
      throw new KeyError('refused', `the key "${name}" in the key vault ${endpoint} ${reason}`);
    }
    if (value === undefined) {
      throw new KeyError('unavailable', `the key vault ${endpoint} tells no value of the key "${name}"`);
    }
    return Buffer.from(value, 'utf8');
  }

  async delete(name: string): Promise<void> {
    const was = azureName.test(name) && (await deleteSecret(this.#vault, name));
    if (!was) throw notFound(name, this.#vault.endpoint);
  }

  async *list(): AsyncIterable<string> {
    const outcome = await this.#vault.attempt((secrets) => Array.fromAsync(secrets.listPropertiesOfSecrets()));
    if ('refusal' in outcome) throw this.#vault.error({ permission: 'List' }, outcome.refusal);
    for (const properties of outcome.value) {
      const name = keyNameOf(properties);
      if (keyNameError(name) === undefined) yield name;
    }
  }

  async probe(): Promise<void> {
    const { endpoint, remote } = this.#vault;
    const answer = await remote.ask({ method: 'GET', url: endpoint, of: `the key vault ${endpoint}`, once: true });
    if (answer.status < 500) return;
    throw new KeyError('unavailable', `the key vault ${endpoint} answers ${answer.status}`);
  }

  async close(): Promise<void> {}

  #checkFits(name: string, record: Buffer): void {
    const cannot = `the key vault ${this.#vault.endpoint} cannot hold the key "${name}"`;
    if (!azureName.test(name)) {
      throw new KeyError('invalid-name', `${cannot}: names of Azure Key Vault are of letters, digits and "-" alone`);
    }
    if (record.length > maxValueBytes) {
      throw new KeyError('refused', `${cannot}: secrets are of ${maxValueBytes} bytes at most`);
    }
  }
}

/** Returns why the administrators of the vault have blocked a version. */
function heldBack({ enabled, notBefore, expiresOn }: SecretProperties, now: number): string | undefined {
  if (enabled === false) return 'is disabled';
  if (notBefore !== undefined && notBefore.getTime() > now)
    return `is not to be used before ${notBefore.toISOString()}`;
  if (expiresOn !== undefined && expiresOn.getTime() <= now) return `expired at ${expiresOn.toISOString()}`;
  return undefined;
}

function notFound(name: string, endpoint: string): KeyError {
  return new KeyError('not-found', `the key vault ${endpoint} has no key "${name}"`);
}

/** The store never purges it for a new key: its ciphertexts may still be needed, and the deletion may be a mistake. */
function recoverable(name: string, endpoint: string): KeyError {
  return new KeyError(
    'refused',
    `the key vault ${endpoint} holds a deleted key "${name}" that can be recovered, so its name cannot be used: recover it ` +
      `("az keyvault secret recover --name ${name} --vault-name …"), or remove it for good by "keysvc key rm ${name}"`,
  );
}
