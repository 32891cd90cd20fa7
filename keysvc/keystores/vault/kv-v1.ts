import { z } from 'zod';
import { retryDelay } from '../../../platform/backoff.ts';
import { KeyStoreError } from '../keystore.ts';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import { retryAfterMs, type RemoteAnswer } from '../remote/remote.ts';
import type { KvEngine, KvPlace } from './kv-engine.ts';
import type { VaultCall } from './vault-client.ts';

const secret = z.object({ data: z.record(z.string(), z.unknown()) });

/** Milliseconds within which a write comes to an end, or never. */
const writeMs = 2000;
/** Milliseconds since the look before a write until nobody's write can follow it: two writes, and a second that dates leave out. */
const settledMs = 2 * writeMs + 1000;
/** Milliseconds after which a creation that fails is given up. */
const budgetMs = 10_000;

/** When the writer looked and found nothing, by the vault's clock: beside the key, in a field that other programs pass over. */
const lookedField = 'looked';

/**
 * Version 1 writes over whatever is there. So a writer looks, writes within a bounded time, and waits until everybody who looked before
 * has written; whose bytes are there then has created the key, and before that nobody uses them. A policy without the capability
 * "update" makes the vault itself refuse to write over.
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
      // A vault whose clock was set back must not keep everybody waiting.
      await clock.sleep(Math.min(wait, settledMs));
      if (wait > settledMs) return this.#place.valueOf(found.data, name);
    }
  }

  async write(name: string, record: Buffer): Promise<WriteOutcome> {
    const { clock } = this.#place.client.remote;
    const began = clock.now();
    let wrote = false;
    for (let attempt = 0; ; attempt++) {
      // Before each attempt: a write that follows a look by too long may come after somebody else's key is in use.
      const found = await this.#look(name);
      if (found.data !== undefined) return wrote ? 'in-doubt' : 'taken';
      const call = this.#writeCall(name, record, found.vaultNow);
      wrote = true;
      const outcome = await this.#tryOnce(call);
      if (outcome instanceof KeyStoreError) {
        const delay = retryDelay(attempt, Math.random());
        if (clock.now() - began + delay > budgetMs) throw outcome;
        await clock.sleep(delay);
        continue;
      }
      if (outcome.status === 204 || outcome.status === 200) return 'written';
      // Who may create and not update is refused where there is one by now.
      if (outcome.status === 403 && (await this.#look(name)).data !== undefined) return 'in-doubt';
      const delay = retryAfterMs(outcome.headers, clock.now()) ?? retryDelay(attempt, Math.random());
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
    const answer = await this.#place.client.expect(call, 200, 404);
    const date = Date.parse(answer.headers.get('date') ?? '');
    const vaultNow = Number.isNaN(date) ? this.#place.client.remote.clock.now() : date;
    if (answer.status === 404) return { data: undefined, vaultNow };
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

  async #tryOnce(call: VaultCall): Promise<RemoteAnswer | KeyStoreError> {
    try {
      return await this.#place.client.ask(call);
    } catch (error) {
      if (error instanceof KeyStoreError && error.code === 'unreachable') return error;
      throw error;
    }
  }
}
