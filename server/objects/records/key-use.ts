import type { Revision, RecordStore, Key } from '../../store/record-store.ts';
import { recordKeys, decodeRecord, encodeRecord } from './record-format.ts';
import { commitOnce } from '../../store/commits.ts';

/**
 * The state of a named key for new objects. Every commit of an object under the key expects this record unchanged, so that no server
 * writes another object under a key that is being removed.
 */
export interface KeyUse {
  /** `leaving`: its removal is in progress. `gone`: it was removed. */
  readonly state: 'live' | 'leaving' | 'gone';
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface StoredKeyUse {
  readonly use: KeyUse;
  readonly revision: Revision;
}

export async function findKeyUse(
  records: Pick<RecordStore, 'get'>,
  keyName: string,
): Promise<StoredKeyUse | undefined> {
  const entry = await records.get(recordKeys.keyUse(keyName));
  return entry && { use: decodeRecord(entry.value, `key ${keyName}`) as KeyUse, revision: entry.revision };
}

/** Writes the record, and deletes others, if it is unchanged since `found`; `undefined` means that it was absent. Returns false after a concurrent change. */
export async function writeKeyUse(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  keyName: string,
  found: StoredKeyUse | undefined,
  use: KeyUse,
  random: (size: number) => Buffer,
  alsoDelete: readonly Key[] = [],
): Promise<boolean> {
  const key = recordKeys.keyUse(keyName);
  const expectation =
    found === undefined
      ? { kind: 'absent' as const, key }
      : { kind: 'revision' as const, key, revision: found.revision };
  const settled = await commitOnce(
    records,
    { expect: [expectation], put: [{ key, value: encodeRecord(use) }], delete: alsoDelete },
    random,
  );
  return settled.kind === 'committed';
}

/** The key uses that this thread has read, by key name. */
export type KnownKeyUses = Map<string, Revision>;
