import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Expectation, Revision } from '../store/record-store.ts';
import type { Environment } from './environment.ts';
import { findKeyUse, writeKeyUse } from './records/key-use-record.ts';
import type { SealedKeys } from './records/object-record.ts';
import { recordKeys } from './records/record-keys.ts';

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
