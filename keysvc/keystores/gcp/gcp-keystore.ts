import { keyNameError } from '../../../protocol/key-service/names.ts';
import type { GcpKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError, type KeyStore } from '../keystore.ts';
import { confirmCreated, type WriteOutcome } from '../remote/confirm-created.ts';
import { confirmDeleted } from '../remote/confirm-deleted.ts';
import { type Outcome, probe, Remote, type RemoteOptions } from '../remote/remote.ts';
import { GcpClient, once } from './gcp-client.ts';

/** The time limit for a secret without a version: its creator is between two calls, or has failed. */
const retries = { times: 3, pauseMs: 1000 };

/**
 * Stores keys as secrets of Google's Secret Manager. A key is the first version of its secret: numbers are unique and ordered, so exactly
 * one of several creators gets number 1.
 *
 * @see https://cloud.google.com/secret-manager/docs/access-secret-version
 */
export class GcpKeyStore implements KeyStore {
  readonly #client: GcpClient;

  constructor(settings: GcpKeyStoreSettings, options: RemoteOptions = {}) {
    this.#client = new GcpClient(settings, new Remote(options));
  }

  async create(name: string, record: Buffer): Promise<void> {
    await confirmCreated(this, name, record, await this.#write(name, record));
  }

  async get(name: string): Promise<Buffer> {
    const outcome = await this.#access(name);
    if ('refusal' in outcome) throw this.#notFound(name);
    const data = outcome.value;
    if (data === undefined) {
      throw new KeyError('unavailable', `${this.#client.name} tells no value of the key "${name}"`);
    }
    return data;
  }

  async delete(name: string): Promise<void> {
    const outcome = await this.#client.ask(
      { permission: 'secrets.delete', key: name },
      (client) => client.deleteSecret({ name: this.#nameOf(name) }, once),
      404,
    );
    if ('refusal' in outcome && !outcome.refusal.repeated) throw this.#notFound(name);
    await confirmDeleted(this, name);
  }

  async *list(): AsyncIterable<string> {
    const { parent } = this.#client;
    const outcome = await this.#client.ask({ permission: 'secrets.list' }, async (client) => {
      const [secrets] = await client.listSecrets({ parent }, once);
      return secrets;
    });
    // No failure is expected, so there is always a value.
    for (const secret of 'value' in outcome ? outcome.value : []) {
      const name = secret.name?.split('/').at(-1) ?? '';
      if (keyNameError(name) === undefined) yield name;
    }
  }

  probe(): Promise<void> {
    return probe(this.#client);
  }

  async close(): Promise<void> {}

  async #write(name: string, record: Buffer): Promise<WriteOutcome> {
    const { parent } = this.#client;
    const made = await this.#client.ask(
      { permission: 'secrets.create', key: name },
      (client) => client.createSecret({ parent, secretId: name, secret: { replication: { automatic: {} } } }, once),
      409,
    );
    if ('refusal' in made && !made.refusal.repeated && (await this.#hasVersion(name))) return 'taken';
    const added = await this.#client.ask({ permission: 'versions.add', key: name }, async (client) => {
      const [version] = await client.addSecretVersion({ parent: this.#nameOf(name), payload: { data: record } }, once);
      return version.name ?? '';
    });
    // Another number may be our own, after a repeated request whose first answer was lost.
    return 'value' in added && added.value.endsWith('/versions/1') ? 'written' : 'in-doubt';
  }

  async #hasVersion(name: string): Promise<boolean> {
    for (let time = 1; ; time++) {
      if ('value' in (await this.#access(name))) return true;
      if (time === retries.times) return false;
      await this.#client.remote.clock.sleep(retries.pauseMs);
    }
  }

  #access(name: string): Promise<Outcome<Buffer | undefined>> {
    const operation = { permission: 'versions.access', key: name } as const;
    return this.#client.ask(
      operation,
      async (client) => {
        const [{ payload }] = await client.accessSecretVersion({ name: `${this.#nameOf(name)}/versions/1` }, once);
        const data = payload?.data;
        if (data === undefined || data === null) return undefined;
        return typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.from(data);
      },
      404,
    );
  }

  #nameOf(name: string): string {
    return `${this.#client.parent}/secrets/${name}`;
  }

  #notFound(name: string): KeyError {
    return new KeyError('not-found', `${this.#client.name} has no key "${name}"`);
  }
}
