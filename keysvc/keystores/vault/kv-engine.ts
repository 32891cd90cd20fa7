import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import type { VaultClient } from './vault-client.ts';
import { saysNothingThere } from './vault-errors.ts';

/** The operations that differ between the versions of Vault's key-value engine. */
export interface KvEngine {
  /** Undefined where the key does not exist. */
  read(name: string): Promise<Buffer | undefined>;
  write(name: string, record: Buffer): Promise<WriteOutcome>;
  /** Returns whether the key existed. */
  remove(name: string): Promise<boolean>;
  list(): Promise<readonly string[]>;
}

const keys = z.object({ data: z.object({ keys: z.array(z.string()) }) });

/** The location of the keys in a vault: an engine and a prefix. */
export class KvPlace {
  readonly client: VaultClient;
  readonly #engine: string;
  readonly #prefix: string;

  constructor(client: VaultClient, engine: string, prefix: string) {
    this.client = client;
    this.#engine = engine;
    this.#prefix = prefix;
  }

  /** The path of a key, in a section of the engine where it has sections. */
  path(name: string, section: KvSection = ''): string {
    return [this.#engine, section, this.#prefix, name].filter((part) => part !== '').join('/');
  }

  /** Lists the names; those of folders end with a slash. */
  async list(section: KvSection = ''): Promise<readonly string[]> {
    const call = { method: 'GET', path: `${this.path('', section)}/`, query: 'list=true', capability: 'list' } as const;
    const answer = await this.client.ask(call);
    // The answer for an empty folder.
    if (saysNothingThere(answer)) return [];
    if (answer.status !== 200) throw this.client.error(call, answer);
    const found = readJson(answer.text, keys, `the vault ${this.client.name}`).data.keys;
    return found.filter((name) => !name.endsWith('/'));
  }

  /** Returns the key in a secret, whose field has the name of the key. */
  valueOf(data: Readonly<Record<string, unknown>>, name: string): Buffer {
    const value = data[name];
    if (typeof value === 'string') return Buffer.from(value, 'utf8');
    throw new KeyError(
      'corrupted',
      `the secret of the key "${name}" in the vault ${this.client.name} has no field of that name`,
    );
  }
}

type KvSection = '' | 'data' | 'metadata';
