import { createHash } from 'node:crypto';
import { decodeKey } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';
import { sealedKey, sealedWithin } from '../../encryption/sealed-records.ts';
import { parseJson } from '../api/sign-in/expired-records.ts';
import type { ConsoleRecords } from '../services.ts';
import { storedTransfer, type StoredTransfer } from './transfer.ts';

export const transferPrefix = 'console-transfer';

/** The maximum number of stored transfers of a user. A new transfer replaces the one that ended first. */
const maxStored = 50;
const maxListed = 1_000;

interface FoundTransfer {
  readonly id: string;
  readonly value: StoredTransfer;
}

/** Makes the key of the record. A hash takes the place of the owner, whose name may be longer than a key. */
export function transferKey(owner: string, id: string): Key {
  return sealedKey(transferPrefix, hashOf(owner), id);
}

/** The records of transfers. */
export class StoredTransfers {
  readonly #records: ConsoleRecords;

  constructor(records: ConsoleRecords) {
    this.#records = records;
  }

  async ofOwner(owner: string): Promise<readonly FoundTransfer[]> {
    const found: FoundTransfer[] = [];
    const range = { ...sealedWithin(transferPrefix, hashOf(owner)), limit: maxListed };
    for await (const { key, value } of this.#records.scan(range)) {
      const stored = parse(value);
      if (stored !== undefined) found.push({ id: decodeKey(key).at(-1)?.toString() ?? '', value: stored });
    }
    return found;
  }

  async get(key: Key): Promise<StoredTransfer | undefined> {
    const entry = await this.#records.get(key);
    return entry && parse(entry.value);
  }

  /** Stores a new transfer. Of those that were found, it removes the ones that ended first, so that their number stays bounded. */
  async add(id: string, value: StoredTransfer, found: readonly FoundTransfer[]): Promise<void> {
    const ended = found.filter((one) => one.value.state !== 'running');
    const first = ended.toSorted((one, other) => one.value.expires - other.value.expires);
    for (const { id: old } of first.slice(0, Math.max(0, found.length + 1 - maxStored))) {
      await this.#records.delete(transferKey(value.owner, old));
    }
    await this.#records.put(transferKey(value.owner, id), encode(value), { kind: 'absent' });
  }

  /**
   * Writes the changed record, or deletes it, if no other writer changed it since it was read; otherwise reads it again. Resolves with the
   * new record, or with undefined where it did not write one: the record is absent, or `change` returned undefined.
   */
  async change(
    key: Key,
    change: (value: StoredTransfer) => StoredTransfer | 'deleted' | undefined,
  ): Promise<StoredTransfer | undefined> {
    for (;;) {
      const entry = await this.#records.get(key);
      const value = entry && parse(entry.value);
      const next = value && change(value);
      if (entry === undefined || next === undefined) return undefined;
      const expectation = { kind: 'revision', revision: entry.revision } as const;
      const outcome =
        next === 'deleted'
          ? await this.#records.delete(key, expectation)
          : await this.#records.put(key, encode(next), expectation);
      if (outcome === 'committed') return next === 'deleted' ? undefined : next;
    }
  }
}

function encode(value: StoredTransfer): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function parse(value: Buffer): StoredTransfer | undefined {
  return storedTransfer.safeParse(parseJson(value)).data;
}

function hashOf(owner: string): string {
  return createHash('sha256').update(owner).digest('hex');
}
