import { commitOnce } from '../../store/commit-once.ts';
import type { RecordStore, Revision, Expectation } from '../../store/record-store.ts';
import { decodeRecord, encodeRecord } from '../records/record-format.ts';
import { recordKeys } from '../records/record-keys.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Environment } from '../context.ts';
import type { SealedKeys } from '../records/object-record.ts';

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

/** What this thread knows of keys that are in use, by their names. */
export type KnownKeyUses = Map<string, Revision>;

/** Key names that are kept; names come from clients, but only of keys that exist. */
const MOST_KNOWN = 10_000;

/**
 * What a commit of something encrypted expects: that its key is not being removed. `attempt` is 1 for the first, which goes by what
 * this thread knows; a later one reads again. Throws `KMSNotFound` where the key is on its way out.
 */
export async function guardKey(
  environment: Pick<Environment, 'records' | 'clock' | 'random' | 'keyUses'>,
  sealed: SealedKeys | undefined,
  attempt: number,
): Promise<readonly Expectation[]> {
  if (sealed === undefined || sealed.scheme === 'SSE-C') return [];
  const { keyName } = sealed;
  const known = attempt === 1 ? environment.keyUses.get(keyName) : undefined;
  const revision = known ?? (await readUse(environment, keyName));
  return [{ kind: 'revision', key: recordKeys.keyUse(keyName), revision }];
}

async function readUse(
  { records, clock, random, keyUses }: Pick<Environment, 'records' | 'clock' | 'random' | 'keyUses'>,
  keyName: string,
): Promise<Revision> {
  for (;;) {
    const found = await findKeyUse(records, keyName);
    if (found === undefined) {
      // Of several that use a key for the first time one writes this, and all read it.
      await writeKeyUse(records, keyName, undefined, { state: 'live', since: clock() }, random);
      continue;
    }
    if (found.use.state !== 'live') {
      keyUses.delete(keyName);
      throw new S3Error('KMSNotFound', `Invalid keyId: the key ${keyName} ${whatBecame[found.use.state]}`);
    }
    if (keyUses.size >= MOST_KNOWN) keyUses.clear();
    keyUses.set(keyName, found.revision);
    return found.revision;
  }
}

const whatBecame = {
  leaving: 'is being removed by an administrator; if nobody is removing it any more, ask for its removal again.',
  gone: 'was removed by an administrator.',
} as const;
