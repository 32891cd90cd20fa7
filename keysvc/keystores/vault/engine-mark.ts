import { z } from 'zod';
import { isOutage, KeyError } from '../keystore.ts';
import { readJson } from '../remote/json-answer.ts';
import type { KvEngine } from './kv-engine.ts';
import type { VaultCall, VaultClient } from './vault-client.ts';
import { mapLimit } from '../../../platform/async/concurrency.ts';

const mount = z.object({ data: z.object({ uuid: z.string().min(1).optional() }) });

/** Stands for the ID of an engine that the vault does not show to the login. */
const hidden = 'hidden';

/** A call about one key. */
interface Call {
  /** The key was created or deleted meanwhile, so that what the call found may be the state before. */
  isOvertaken: boolean;
}

/**
 * Proves that an engine is still the one in which the keys were read. Another engine at the same path is empty in the words of a vault: it was
 * disabled and enabled again, the vault lost its storage, or a balancer leads to another vault. The mark is the ID that a vault gives each
 * engine, which every login sees that may read a single secret of it.
 */
export class EngineMark {
  readonly #client: VaultClient;
  readonly #engine: string;
  readonly #keys: Pick<KvEngine, 'read'>;
  /** The trusted engine: the first that was seen, or a later one that had each key of the former. */
  #trusted: string | undefined;
  /** The engine in which each key was read; undefined where the vault did not tell it. */
  readonly #readIn = new Map<string, string | undefined>();
  /** The calls in progress, by key. Those about one key say nothing about another. */
  readonly #calls = new Map<string, Set<Call>>();

  constructor(client: VaultClient, engine: string, keys: Pick<KvEngine, 'read'>) {
    this.#client = client;
    this.#engine = engine;
    this.#keys = keys;
  }

  /**
   * Returns the record of a key. Undefined where the key does not exist.
   *
   * @throws KeyError `unavailable` where the absence may be that of another engine
   */
  read(key: string): Promise<Buffer | undefined> {
    return this.#inProgress(key, async (call) => {
      // The engine is seen before the key: else the ID could be that of an engine that came in between.
      const before = this.#trusted ?? (await this.#tryLook());
      const found = await this.#keys.read(key);
      if (found !== undefined) {
        await this.#remember(key, before, call);
        return found;
      }
      // Without a key that was read, no former engine is known.
      if (this.#trusted === undefined && this.#readIn.size === 0) return undefined;
      const again = await this.within(() => this.#keys.read(key));
      if (again === undefined) this.#missing(key, call);
      return again;
    });
  }

  /**
   * Deletes a key in the trusted engine by `remove`, which returns false where the key does not exist, and returns its result.
   *
   * @throws KeyError `unavailable`
   */
  delete(key: string, remove: () => Promise<boolean>): Promise<boolean> {
    return this.#inProgress(key, async (call) => {
      const existed = await this.within(remove);
      if (existed) this.#forget(key);
      else this.#missing(key, call);
      return existed;
    });
  }

  /**
   * Runs a call whose result counts only in the trusted engine, which is seen before and after it.
   *
   * @throws KeyError `unavailable`
   */
  async within<T>(call: () => Promise<T>): Promise<T> {
    const engine = await this.#prove();
    const result = await call();
    await this.#expect(engine);
    return result;
  }

  /** Remembers a key that was written in the trusted engine. */
  created(key: string): void {
    this.#overtake(key);
    this.#readIn.set(key, this.#trusted);
  }

  async #inProgress<T>(key: string, work: (call: Call) => Promise<T>): Promise<T> {
    const call: Call = { isOvertaken: false };
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls.add(call));
    try {
      return await work(call);
    } finally {
      calls.delete(call);
      if (calls.size === 0) this.#calls.delete(key);
    }
  }

  #overtake(key: string): void {
    for (const call of this.#calls.get(key) ?? []) call.isOvertaken = true;
  }

  #forget(key: string): void {
    this.#overtake(key);
    this.#readIn.delete(key);
  }

  /**
   * Forgets a key that the trusted engine does not have.
   *
   * @throws KeyError `unavailable` where the key was read in another engine
   */
  #missing(key: string, call: Call): void {
    if (call.isOvertaken) return;
    if (this.#readIn.has(key) && this.#readIn.get(key) !== this.#trusted) throw this.#isAnother(key);
    this.#forget(key);
  }

  /** Remembers the engine of a key that was read. A vault that cannot tell it now fails no read. */
  async #remember(key: string, before: string | undefined, call: Call): Promise<void> {
    if (this.#trusted !== undefined && this.#readIn.get(key) === this.#trusted) return;
    const after = await this.#tryLook();
    if (call.isOvertaken) return;
    const engine = after === before ? after : undefined;
    if (engine !== undefined || !this.#readIn.has(key)) this.#readIn.set(key, engine);
    this.#trusted ??= engine;
  }

  /** Returns the ID of the engine, once it is known to have each key that was read before. */
  async #prove(): Promise<string> {
    const engine = await this.#look();
    if (engine === this.#trusted) return engine;
    if (engine === hidden && this.#trusted !== undefined) {
      throw new KeyError('unavailable', `${this.#where} is not shown any more, so that no key counts as missing`);
    }
    const keys = [...this.#readIn.keys()].filter((key) => this.#readIn.get(key) !== engine);
    await mapLimit(keys, 16, async (key) => {
      if (!(await this.#has(key))) throw this.#isAnother(key);
    });
    await this.#expect(engine);
    for (const key of keys) this.#readIn.set(key, engine);
    this.#trusted = engine;
    return engine;
  }

  async #has(key: string): Promise<boolean> {
    try {
      return (await this.#keys.read(key)) !== undefined;
    } catch (error) {
      if (!(error instanceof KeyError) || isOutage(error)) throw error;
      if (error.code === 'corrupted') return true;
      // A refusal of this key says nothing about the key of the call.
      throw new KeyError('unavailable', `${this.#where} is another one than before: ${error.message}`, {
        cause: error,
      });
    }
  }

  async #expect(engine: string): Promise<void> {
    if ((await this.#look()) === engine) return;
    throw new KeyError('unavailable', `${this.#where} was replaced during the call: try again`);
  }

  #isAnother(key: string): KeyError {
    return new KeyError(
      'unavailable',
      `${this.#where} is another one than before, and has no key "${key}", which was read in the former: restore its secrets. ` +
        'If it shall begin empty, or the key was deleted by another key service, start the key service again',
    );
  }

  get #where(): string {
    return `the engine "${this.#engine}" of the vault ${this.#client.name}`;
  }

  /** Returns undefined where the vault cannot tell its engine now. Asks once, since the read that follows tries again itself. */
  async #tryLook(): Promise<string | undefined> {
    try {
      return await this.#look(5000);
    } catch (error) {
      if (isOutage(error)) return undefined;
      throw error;
    }
  }

  /**
   * Returns the ID of the engine; `hidden` where the vault never tells it.
   *
   * @see https://developer.hashicorp.com/vault/api-docs/system/internal-ui-mounts
   * @throws KeyError `unavailable` where it cannot tell the ID now
   */
  async #look(onceWithinMs?: number): Promise<string> {
    const path = `sys/internal/ui/mounts/${this.#engine}`;
    const once = onceWithinMs === undefined ? {} : { onceWithinMs };
    const call: VaultCall = { method: 'GET', path, capability: 'read', ...once };
    const answer = await this.#client.ask(call);
    if (answer.status === 403 || answer.status === 404) return hidden;
    if (answer.status !== 200) throw this.#client.error(call, answer);
    return readJson(answer.text, mount, `the vault ${this.#client.name}`).data.uuid ?? hidden;
  }
}
