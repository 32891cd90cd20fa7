import { createHash } from 'node:crypto';
import { z } from 'zod';
import { keyCanary, type KeyCanaries, type KeyCanary } from '../../protocol/key-service/canary.ts';
import { decodeKey, key, within } from '../store/keys.ts';
import type { Key, RecordStore, Revision } from '../store/record-store.ts';
import { StoreError } from '../store/store-error.ts';

/**
 * The record of the canaries of a key: one byte of format, then JSON. All versions of a key are in one record, so that two servers with
 * different key services cannot both begin a key: one commit is first, and the other server must open what it wrote.
 */
export function canariesRecord(keyName: string): Key {
  return key('k', 'canaries', keyName);
}

const FORMAT = 1;
const stored = z.object({ canaries: z.array(keyCanary) });

interface StoredCanaries {
  readonly canaries: readonly KeyCanary[];
  readonly revision: Revision;
}

export function encodeCanaries(canaries: readonly KeyCanary[]): Buffer {
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(JSON.stringify({ canaries }))]);
}

/** Throws `StoreError`: an unreadable record is never taken for a key that sealed nothing. */
export function decodeCanaries(value: Buffer, keyName: string): readonly KeyCanary[] {
  if (value[0] !== FORMAT) {
    throw new StoreError(
      'unreadable-record',
      `the canaries of the key ${keyName} have format ${value[0]}, which this server does not know: start the newer server that wrote it`,
    );
  }
  try {
    return stored.parse(JSON.parse(value.toString('utf8', 1))).canaries;
  } catch (error) {
    throw new StoreError('unreadable-record', `the record of the canaries of the key ${keyName} is damaged`, {
      cause: error,
    });
  }
}

/** Returns the canaries of a key; undefined if nothing was ever sealed under it. */
export async function readCanaries(
  records: Pick<RecordStore, 'get'>,
  keyName: string,
): Promise<StoredCanaries | undefined> {
  const entry = await records.get(canariesRecord(keyName));
  return entry && { canaries: decodeCanaries(entry.value, keyName), revision: entry.revision };
}

/** Returns the canaries of every key under which anything was sealed, in the order of the names. */
export async function listCanaries(records: Pick<RecordStore, 'scan'>): Promise<readonly KeyCanaries[]> {
  const found: KeyCanaries[] = [];
  for await (const item of records.scan(within('k', 'canaries'))) {
    if (item.kind !== 'entry') continue;
    const name = String(decodeKey(item.key)[2]);
    found.push({ key: name, canaries: decodeCanaries(item.value, name) });
  }
  return found;
}

export function digestOf(plaintext: Buffer): string {
  return createHash('sha256').update(plaintext).digest('hex');
}
