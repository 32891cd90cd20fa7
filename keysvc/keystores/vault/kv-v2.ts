import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import type { WriteOutcome } from '../remote/confirm-created.ts';
import { readJson, tryJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';
import type { KvEngine, KvPlace } from './kv-engine.ts';
import type { VaultCall } from './vault-client.ts';
import { saysNothingThere, vaultSays } from './vault-errors.ts';

const secret = z.object({
  data: z.object({ data: z.record(z.string(), z.unknown()), metadata: z.object({ version: z.number() }) }),
});
const deletedSecret = z.object({
  data: z.object({ metadata: z.object({ deletion_time: z.string(), destroyed: z.boolean() }) }),
});

/**
 * Version 2 stores versions and can write the first one only where there is none. A key is the first version; a read fails when a later
 * version exists, since no key may change.
 *
 * @see https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2
 */
export class KvV2 implements KvEngine {
  readonly #place: KvPlace;

  constructor(place: KvPlace) {
    this.#place = place;
  }

  async read(name: string): Promise<Buffer | undefined> {
    const latest = await this.#readVersion(name, undefined);
    if (latest === undefined || latest.version === 1) return latest?.value;
    const first = await this.#readVersion(name, 1);
    if (first?.value.equals(latest.value) === true) return first.value;
    throw new KeyError(
      'corrupted',
      `the key "${name}" in the vault ${this.#place.client.name} was written over: "${this.#data(name)}" is at version ${latest.version}, ` +
        'and what was sealed needs version 1. Bring it back by "vault kv rollback -version=1"',
    );
  }

  async write(name: string, record: Buffer): Promise<WriteOutcome> {
    const call = {
      method: 'POST',
      path: this.#data(name),
      body: { options: { cas: 0 }, data: { [name]: record.toString('utf8') } },
      capability: 'create',
      key: name,
    } as const;
    const answer = await this.#place.client.expect(call, 200, 400, 403);
    if (answer.status === 200) return 'written';
    if (answer.status === 400 && !vaultSays(answer).includes('check-and-set'))
      throw this.#place.client.error(call, answer);
    // For an existing name the vault demands the capability "update" before it checks the version. The policy does not have it.
    const readCall = this.#readCall(name, undefined);
    const current = await this.#place.client.ask(readCall);
    if (current.status === 200) return answer.repeated ? 'in-doubt' : 'taken';
    if (!isAbsent(current)) throw this.#place.client.error(readCall, current);
    const deleted = tryJson(current.text, deletedSecret);
    throw deleted === undefined
      ? this.#place.client.error(call, answer)
      : this.#undeletable(name, deleted.data.metadata);
  }

  async remove(name: string): Promise<boolean> {
    const path = this.#place.path(name, 'metadata');
    const call = { method: 'GET', path, capability: 'read', key: name } as const;
    const look = await this.#place.client.ask(call);
    if (saysNothingThere(look)) return false;
    if (look.status !== 200) throw this.#place.client.error(call, look);
    // Deletes all versions at once: a deletion of the latest one would keep the name.
    await this.#place.client.expect({ method: 'DELETE', path, capability: 'delete', key: name }, 204);
    return true;
  }

  list(): Promise<readonly string[]> {
    return this.#place.list('metadata');
  }

  async #readVersion(
    name: string,
    version: number | undefined,
  ): Promise<{ value: Buffer; version: number } | undefined> {
    const call = this.#readCall(name, version);
    const answer = await this.#place.client.ask(call);
    if (isAbsent(answer)) return undefined;
    if (answer.status !== 200) throw this.#place.client.error(call, answer);
    const { data, metadata } = readJson(answer.text, secret, `the vault ${this.#place.client.name}`).data;
    return { value: this.#place.valueOf(data, name), version: metadata.version };
  }

  #readCall(name: string, version: number | undefined): VaultCall {
    const query = version === undefined ? {} : { query: `version=${version}` };
    return { method: 'GET', path: this.#data(name), ...query, capability: 'read', key: name };
  }

  /** The name exists, but has nothing to read. */
  #undeletable(name: string, { destroyed }: { readonly destroyed: boolean }): KeyError {
    const where = `the vault ${this.#place.client.name} holds a deleted key "${name}"`;
    return new KeyError(
      'refused',
      !destroyed
        ? `${where} that can be recovered, so its name cannot be used: bring it back by "vault kv undelete -versions=1", ` +
            `or remove it for good by "keysvc key rm ${name}"`
        : `${where}, whose bytes are destroyed: remove what is left of it by "keysvc key rm ${name}" to use its name again`,
    );
  }

  #data(name: string): string {
    return this.#place.path(name, 'data');
  }
}

/** Reports whether a vault says that there is nothing to read: there was never a secret, or its version is deleted. */
function isAbsent(answer: RemoteAnswer): boolean {
  return saysNothingThere(answer) || (answer.status === 404 && tryJson(answer.text, deletedSecret) !== undefined);
}
