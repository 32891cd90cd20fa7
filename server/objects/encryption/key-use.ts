import { commitOnce } from '../../store/commit-once.ts';
import type { RecordStore, Revision, Expectation } from '../../store/record-store.ts';
import { decodeRecord, encodeRecord } from '../records/record-format.ts';
import { recordKeys } from '../records/record-keys.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SealedKeys } from '../records/object-record.ts';

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

/** Writes the record if it is unchanged since `found`; `undefined` means that it was absent. Returns false after a concurrent change. */
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

/** The key uses that this thread has read, by key name. */
export type KnownKeyUses = Map<string, Revision>;

interface KeyUseContext {
  readonly records: RecordStore;
  readonly clock: () => number;
  readonly random: (size: number) => Buffer;
  readonly keyUses: KnownKeyUses;
}

/** The maximum of key names in memory. Clients choose names, but only of keys that exist. */
const MAX_KNOWN = 10_000;

/**
 * Returns the expectation of a commit that its key is not being removed. Attempt 1 uses the revision that this thread has read before;
 * later attempts read it again. Throws `KMSNotFound` where the key is being removed.
 */
export async function guardKey(
  context: KeyUseContext,
  sealed: SealedKeys | undefined,
  attempt: number,
): Promise<readonly Expectation[]> {
  if (sealed === undefined || sealed.scheme === 'SSE-C') return [];
  const { keyName } = sealed;
  const known = attempt === 1 ? context.keyUses.get(keyName) : undefined;
  const revision = known ?? (await readUse(context, keyName));
  return [{ kind: 'revision', key: recordKeys.keyUse(keyName), revision }];
}

async function readUse({ records, clock, random, keyUses }: KeyUseContext, keyName: string): Promise<Revision> {
  for (;;) {
    const found = await findKeyUse(records, keyName);
    if (found === undefined) {
      // Concurrent first uses race to write this record, and all read the winner's.
      await writeKeyUse(records, keyName, undefined, { state: 'live', since: clock() }, random);
      continue;
    }
    if (found.use.state !== 'live') {
      keyUses.delete(keyName);
      throw new S3Error('KMSNotFound', `Invalid keyId: the key ${keyName} ${stateText[found.use.state]}`);
    }
    if (keyUses.size >= MAX_KNOWN) keyUses.clear();
    keyUses.set(keyName, found.revision);
    return found.revision;
  }
}

const stateText = {
  leaving: 'is being removed by an administrator; if the removal was interrupted, ask for it again.',
  gone: 'was removed by an administrator.',
} as const;
