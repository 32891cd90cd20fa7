import { randomBytes } from 'node:crypto';
import type { RecordStore } from '../store/record-store.ts';
import { type KeyUsage, keyUsage } from './key-usage.ts';
import { keyReturned, removeKey, type RemoveKeyOptions, untilKeyMayReturn } from './remove-key.ts';
import { type ResealState, readResealState, writeResealState } from './reseal-state.ts';

/** What the store has to say about named keys, and what is done with what they encrypt. */
export interface KeyLifecycle {
  usage(): Promise<ReadonlyMap<string, KeyUsage>>;
  /** Rejects with `KeyInUse`. */
  remove(options: Omit<RemoveKeyOptions, 'records'>): Promise<KeyUsage | undefined>;
  /** Milliseconds until a key of this name may be made again. */
  untilMayReturn(keyName: string): Promise<number>;
  returned(keyName: string): Promise<void>;
  /** Rejects with `RotationUnderWay`. */
  mayRotate(): Promise<void>;
  /** Asks for a change of keys; the server that leads makes it. Rejects with `RotationUnderWay`. */
  rotate(asked: Pick<ResealState, 'from' | 'to' | 'version' | 'mode' | 'objectsPerSecond'>): Promise<ResealState>;
  /** The change under way, or the last one. */
  rotation(): Promise<ResealState | undefined>;
}

export class RotationUnderWay extends Error {
  override readonly name = 'RotationUnderWay';
}

export function createKeyLifecycle(
  records: RecordStore,
  { clock = Date.now, random = randomBytes }: { clock?: () => number; random?: (size: number) => Buffer } = {},
): KeyLifecycle {
  async function mayRotate(): Promise<void> {
    const known = await readResealState(records);
    if (known === undefined || known.finished !== undefined) return;
    const { from, to, looked, againAfter } = known;
    const what = from === to ? `its newest version` : to;
    const until =
      againAfter === undefined
        ? 'wait until that ended'
        : `what servers wrote meanwhile is looked at after ${new Date(againAfter).toISOString()}: wait until then`;
    throw new RotationUnderWay(`objects of ${from} are given ${what} now, ${looked} were looked at: ${until}`);
  }
  return {
    mayRotate,
    usage: () => keyUsage({ records }),
    remove: (options) => removeKey({ ...options, records }),
    untilMayReturn: (keyName) => untilKeyMayReturn(records, keyName, clock()),
    returned: (keyName) => keyReturned(records, keyName, clock(), random),
    async rotate(asked) {
      await mayRotate();
      const state = { ...asked, started: clock(), looked: 0, done: 0, failed: 0 };
      await writeResealState(records, state, random);
      return state;
    },
    rotation: () => readResealState(records),
  };
}
