import { commitOnce } from '../../store/commit-once.ts';
import type { RecordStore, Revision } from '../../store/record-store.ts';
import { decodeRecord, encodeRecord } from './record-format.ts';
import { recordKeys } from './record-keys.ts';

/**
 * Whether a named key is used for new objects. Every commit of an object that is encrypted with it expects this record as it was, so
 * that a key which is being removed gets no further object, on whatever server.
 */
export interface KeyUse {
  /** `leaving`: somebody looks whether it is used, to remove it. `gone`: it was removed. */
  readonly state: 'live' | 'leaving' | 'gone';
  /** Milliseconds since 1970. */
  readonly since: number;
}

export interface StoredKeyUse {
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

/** Writes it where it is still as it was found; `undefined` is absence. False where somebody else was first. */
export async function writeKeyUse(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  keyName: string,
  found: StoredKeyUse | undefined,
  use: KeyUse,
  random: (size: number) => Buffer,
): Promise<boolean> {
  const key = recordKeys.keyUse(keyName);
  const expectation =
    found === undefined
      ? { kind: 'absent' as const, key }
      : { kind: 'revision' as const, key, revision: found.revision };
  const settled = await commitOnce(
    records,
    { expect: [expectation], put: [{ key, value: encodeRecord(use) }] },
    random,
  );
  return settled.kind === 'committed';
}
