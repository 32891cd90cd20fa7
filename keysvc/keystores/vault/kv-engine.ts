import { z } from 'zod';
import { KeyStoreError } from '../keystore.ts';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import type { VaultClient } from './vault-client.ts';

/** What differs between the versions of Vault's key-value engine. */
export interface KvEngine {
  /** Undefined where there is none. */
  read(name: string): Promise<Buffer | undefined>;
  write(name: string, record: Buffer): Promise<WriteOutcome>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
  list(): Promise<readonly string[]>;
}

const keys = z.object({ data: z.object({ keys: z.array(z.string()) }) });

/** Where in a vault the keys are: an engine, and what their names begin with. */
export class KvPlace {
  readonly client: VaultClient;
  readonly #engine: string;
  readonly #prefix: string;

  constructor(client: VaultClient, engine: string, prefix: string) {
    this.client = client;
    this.#engine = engine;
    this.#prefix = prefix;
  }

  /** Of a key, in the section of the engine where it has such. */
  path(name: string, section: KvSection = ''): string {
    return [this.#engine, section, this.#prefix, name].filter((part) => part !== '').join('/');
  }

  /** The names that are there; folders among them end in a slash. */
  async list(section: KvSection = ''): Promise<readonly string[]> {
    const call = { method: 'GET', path: `${this.path('', section)}/`, query: 'list=true', capability: 'list' } as const;
    const answer = await this.client.expect(call, 200, 404);
    // So it answers for a folder that is empty.
    if (answer.status === 404) return [];
    const found = readJson(answer.text, keys, `the vault ${this.client.name}`).data.keys;
    return found.filter((name) => !name.endsWith('/'));
  }

  /** The key in what a secret holds: one field of it, named like it. */
  valueOf(data: Readonly<Record<string, unknown>>, name: string): Buffer {
    const value = data[name];
    if (typeof value === 'string') return Buffer.from(value, 'utf8');
    throw new KeyStoreError(
      'corrupted',
      `the secret of the key "${name}" in the vault ${this.client.name} has no field of that name`,
    );
  }
}

type KvSection = '' | 'data' | 'metadata';
