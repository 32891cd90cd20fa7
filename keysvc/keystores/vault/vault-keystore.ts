import { readFile } from 'node:fs/promises';
import { readAuthorities } from '../../../platform/tls/tls-files.ts';
import { keyNameError } from '../../../protocol/key-service/names.ts';
import type { VaultKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError, type KeyStore } from '../keystore.ts';
import { confirmCreated } from '../remote/confirm-created.ts';
import { confirmDeleted } from '../remote/confirm-deleted.ts';
import { Remote, type RemoteOptions } from '../remote/remote.ts';
import { EngineMark } from './engine-mark.ts';
import { KvPlace, type KvEngine } from './kv-engine.ts';
import { KvV1 } from './kv-v1.ts';
import { KvV2 } from './kv-v2.ts';
import { openRecord, sealRecord, type TransitSettings } from './transit.ts';
import { VaultClient } from './vault-client.ts';

/**
 * Reads the certificates of the settings and opens the vault.
 *
 * @throws KeyError `refused` when one cannot be read
 */
export async function openVaultKeyStore(settings: VaultKeyStoreSettings): Promise<VaultKeyStore> {
  const { caFile, certFile, keyFile } = settings.tls;
  try {
    return new VaultKeyStore(settings, {
      ca: caFile === undefined ? undefined : (await readAuthorities(caFile)).toString(),
      ...(certFile === undefined || keyFile === undefined
        ? {}
        : { client: { cert: await readFile(certFile), key: await readFile(keyFile) } }),
    });
  } catch (cause) {
    throw new KeyError('refused', `keystore.vault.tls: ${(cause as Error).message}`, { cause });
  }
}

/** Stores keys in the key-value engine of a HashiCorp Vault or OpenBao. */
export class VaultKeyStore implements KeyStore {
  readonly #client: VaultClient;
  readonly #engine: KvEngine;
  readonly #mark: EngineMark;
  readonly #transit: TransitSettings | undefined;

  constructor(settings: VaultKeyStoreSettings, options: RemoteOptions = {}) {
    this.#client = new VaultClient(settings, new Remote(options));
    const { engine, prefix, version } = settings;
    const Engine = version === 'v1' ? KvV1 : KvV2;
    this.#transit = settings.transit;
    this.#engine = new Engine(new KvPlace(this.#client, engine, prefix));
    this.#mark = new EngineMark(this.#client, engine, this.#engine);
  }

  async create(name: string, record: Buffer): Promise<void> {
    // A key in another engine would be hidden when the former one is back.
    await this.#mark.within(async () => {
      const sealed = await sealRecord(this.#client, this.#transit, name, record);
      await confirmCreated(this.#unproven, name, record, await this.#engine.write(name, sealed));
    });
    this.#mark.created(name);
  }

  async get(name: string): Promise<Buffer> {
    return this.#open(name, await this.#mark.read(name));
  }

  async delete(name: string): Promise<void> {
    const existed = await this.#mark.delete(name, async () => {
      const removed = await this.#engine.remove(name);
      if (removed) await confirmDeleted(this.#unproven, name);
      return removed;
    });
    if (!existed) throw this.#absence(name);
  }

  async *list(): AsyncIterable<string> {
    // A list that lacks keys because their engine does is short, too.
    const names = await this.#mark.within(() => this.#engine.list());
    for (const name of names) if (keyNameError(name) === undefined) yield name;
  }

  probe(): Promise<void> {
    return this.#client.health();
  }

  async close(): Promise<void> {}

  /** Reads in the engine that is there, for a call that proves the engine itself. */
  get #unproven(): Pick<KeyStore, 'get'> {
    return { get: async (name) => this.#open(name, await this.#engine.read(name)) };
  }

  async #open(name: string, record: Buffer | undefined): Promise<Buffer> {
    if (record === undefined) throw this.#absence(name);
    return openRecord(this.#client, this.#transit, name, record);
  }

  #absence(name: string): KeyError {
    return new KeyError('not-found', `the vault ${this.#client.name} has no key "${name}"`);
  }
}
