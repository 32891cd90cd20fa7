import { z } from 'zod';
import { keyNameProblem } from '../../../protocol/key-service/names.ts';
import type { GcpKeyStoreSettings } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import type { KeyStore } from '../keystore.ts';
import { confirmCreated } from '../remote/confirm-created.ts';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import { Remote } from '../remote/remote.ts';
import type { RemoteAnswer, RemoteOptions } from '../remote/remote.ts';
import { GcpClient } from './gcp-client.ts';
import type { GcpEnvironment } from './gcp-login.ts';

/** A secret without a version is one whose creator is between its two calls, or gone. */
const patience = { times: 3, pauseMs: 1000 };

const payload = z.object({ payload: z.object({ data: z.base64() }) });
const version = z.object({ name: z.string() });
const page = z.object({
  secrets: z.array(z.object({ name: z.string() })).optional(),
  nextPageToken: z.string().optional(),
});

/**
 * Keys as secrets of Google's Secret Manager. A key is the first version of its secret: numbers are given once and in order, so that
 * of several creators exactly one has number 1, and what is read by its number is what was written.
 *
 * @see https://cloud.google.com/secret-manager/docs/access-secret-version
 */
export class GcpKeyStore implements KeyStore {
  readonly #client: GcpClient;

  constructor(settings: GcpKeyStoreSettings, options: RemoteOptions = {}, environment: GcpEnvironment = process.env) {
    this.#client = new GcpClient(settings, new Remote(options), environment);
  }

  async create(name: string, record: Buffer): Promise<void> {
    await confirmCreated(this, name, record, await this.#write(name, record));
  }

  async get(name: string): Promise<Buffer> {
    const answer = await this.#access(name);
    if (answer.status === 404) throw this.#notFound(name);
    return Buffer.from(readJson(answer.text, payload, this.#client.name).payload.data, 'base64');
  }

  async delete(name: string): Promise<void> {
    const call = { method: 'DELETE', path: `/${name}`, permission: 'secrets.delete', key: name } as const;
    const answer = await this.#client.ask(call, 200, 404);
    if (answer.status === 404 && !answer.repeated) throw this.#notFound(name);
  }

  async *list(): AsyncIterable<string> {
    let token = '';
    do {
      const query = new URLSearchParams({ pageSize: '250', ...(token === '' ? {} : { pageToken: token }) }).toString();
      const call = { method: 'GET', path: `?${query}`, permission: 'secrets.list' } as const;
      const answer: RemoteAnswer = await this.#client.ask(call, 200);
      const found = readJson(answer.text, page, this.#client.name);
      for (const secret of found.secrets ?? []) {
        const name = secret.name.split('/').at(-1) ?? '';
        if (keyNameProblem(name) === undefined) yield name;
      }
      token = found.nextPageToken ?? '';
    } while (token !== '');
  }

  async probe(): Promise<void> {
    const { endpoint, name, remote } = this.#client;
    const answer = await remote.ask({ method: 'GET', url: endpoint, of: name, once: true });
    if (answer.status < 500) return;
    throw new KeyStoreError('unavailable', `${name} answers ${answer.status}`);
  }

  async close(): Promise<void> {}

  async #write(name: string, record: Buffer): Promise<WriteOutcome> {
    const secret = {
      method: 'POST',
      path: `?secretId=${encodeURIComponent(name)}`,
      body: { replication: { automatic: {} } },
      permission: 'secrets.create',
      key: name,
    } as const;
    const made = await this.#client.ask(secret, 200, 409);
    if (made.status === 409 && !made.repeated && (await this.#hasVersion(name))) return 'taken';
    const add = {
      method: 'POST',
      path: `/${name}:addVersion`,
      body: { payload: { data: record.toString('base64') } },
      permission: 'versions.add',
      key: name,
    } as const;
    const added = readJson((await this.#client.ask(add, 200)).text, version, this.#client.name);
    // Another number may be ours too: that of a repeated request whose first answer was lost.
    return added.name.endsWith('/versions/1') ? 'written' : 'in-doubt';
  }

  async #hasVersion(name: string): Promise<boolean> {
    for (let time = 1; ; time++) {
      if ((await this.#access(name)).status === 200) return true;
      if (time === patience.times) return false;
      await this.#client.remote.clock.sleep(patience.pauseMs);
    }
  }

  #access(name: string): Promise<RemoteAnswer> {
    const path = `/${name}/versions/1:access`;
    return this.#client.ask({ method: 'GET', path, permission: 'versions.access', key: name }, 200, 404);
  }

  #notFound(name: string): KeyStoreError {
    return new KeyStoreError('not-found', `${this.#client.name} has no key "${name}"`);
  }
}
