import { z } from 'zod';
import { backoffMs, retryBackoff } from '../../../platform/async/backoff.ts';
import { retryAfterMs } from '../../../platform/http/retry-after.ts';
import { KeyError } from '../keystore.ts';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';
import type { KvEngine, KvPlace } from './kv-engine.ts';
import type { VaultCall } from './vault-client.ts';
import { saysNothingThere } from './vault-errors.ts';

const secret = z.object({ data: z.record(z.string(), z.unknown()) });

/** The time limit of a write in milliseconds. */
const writeMs = 2000;
/** Milliseconds between the read before a write and the time when no other write can follow: two writes, and a second that dates omit. */
const settledMs = 2 * writeMs + 1000;
/** The time limit of a failing creation in milliseconds. */
const budgetMs = 10_000;

/** The time of the read that found no key, by the clock of the vault. It is a field of the secret, which other programs ignore. */
const lookedField = 'looked';

/**
 * Version 1 has no conditional write. So a creator reads, writes within a time limit, and waits until every other creator that read before
 * has written. The stored bytes are then the key, and no caller uses them earlier. A policy without the capability "update" makes the vault
 * itself refuse to overwrite.
 *
 * @see https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v1
 */
export class KvV1 implements KvEngine {
  readonly #place: KvPlace;

  constructor(place: KvPlace) {
    this.#place = place;
  }

  async read(name: string): Promise<Buffer | undefined> {
    const { clock } = this.#place.client.remote;
    for (;;) {
      const found = await this.#look(name);
      if (found.data === undefined) return undefined;
      const looked = found.data[lookedField];
      const wait = typeof looked === 'number' ? looked + settledMs - found.vaultNow : 0;
      if (wait <= 0) return this.#place.valueOf(found.data, name);
      // A vault whose clock was set back must not block every reader.
      await clock.sleep(Math.min(wait, settledMs));
      if (wait > settledMs) return this.#place.valueOf(found.data, name);
    }
  }

  async write(name: string, record: Buffer): Promise<WriteOutcome> {
    const { clock } = this.#place.client.remote;
    const began = clock.now();
    let wrote = false;
    for (let attempt = 0; ; attempt++) {
      // Checked before each attempt, since a late write could overwrite a key that is already in use.
      const found = await this.#look(name);
      if (found.data !== undefined) return wrote ? 'in-doubt' : 'taken';
      const call = this.#writeCall(name, record, found.vaultNow);
      wrote = true;
      const outcome = await this.#tryOnce(call);
      if (outcome instanceof KeyError) {
        const delay = backoffMs(attempt + 1, retryBackoff);
        if (clock.now() - began + delay > budgetMs) throw outcome;
        await clock.sleep(delay);
        continue;
      }
      if (outcome.status === 204 || outcome.status === 200) return 'written';
      // Without the capability "update" the vault refuses an existing key.
      if (outcome.status === 403 && (await this.#look(name)).data !== undefined) return 'in-doubt';
      const delay =
        retryAfterMs(outcome.headers.get('retry-after'), clock.now()) ?? backoffMs(attempt + 1, retryBackoff);
      const isLasting = outcome.status !== 429 && outcome.status < 500;
      if (isLasting || clock.now() - began + delay > budgetMs) throw this.#place.client.error(call, outcome);
      await clock.sleep(delay);
    }
  }

  async remove(name: string): Promise<boolean> {
    if ((await this.#look(name)).data === undefined) return false;
    const call = { method: 'DELETE', path: this.#place.path(name), capability: 'delete', key: name } as const;
    await this.#place.client.expect(call, 204);
    return true;
  }

  list(): Promise<readonly string[]> {
    return this.#place.list();
  }

  async #look(name: string): Promise<{ data: Record<string, unknown> | undefined; vaultNow: number }> {
    const call = { method: 'GET', path: this.#place.path(name), capability: 'read', key: name } as const;
    const answer = await this.#place.client.ask(call);
    const date = Date.parse(answer.headers.get('date') ?? '');
    const vaultNow = Number.isNaN(date) ? this.#place.client.remote.clock.now() : date;
    if (saysNothingThere(answer)) return { data: undefined, vaultNow };
    if (answer.status !== 200) throw this.#place.client.error(call, answer);
    return { data: readJson(answer.text, secret, `the vault ${this.#place.client.name}`).data, vaultNow };
  }

  #writeCall(name: string, record: Buffer, looked: number): VaultCall {
    return {
      method: 'POST',
      path: this.#place.path(name),
      body: { [name]: record.toString('utf8'), [lookedField]: looked },
      capability: 'create',
      key: name,
      onceWithinMs: writeMs,
    };
  }

  async #tryOnce(call: VaultCall): Promise<RemoteAnswer | KeyError> {
    try {
      return await this.#place.client.ask(call);
    } catch (error) {
      if (error instanceof KeyError && error.code === 'unreachable') return error;
      throw error;
    }
  }
}
