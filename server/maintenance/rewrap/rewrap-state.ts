import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commit-once.ts';
import { key } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { Place } from '../verify/object-records.ts';

/** A change of keys that was asked for, and how far it is. Times are milliseconds since 1970. */
export interface ResealState {
  /** The key that objects have, and the one that they get: the same to seal them under its newest version. */
  readonly from: string;
  readonly to: string;
  /** The ID of the version that was made for this, which objects get: those that have it are passed over. */
  readonly version?: string;
  /**
   * Set while a first pass is through: until then servers may have sealed objects under the version before, of which they hold data
   * keys. A second pass after it finds those.
   */
  readonly againAfter?: number;
  /** `reseal` gives objects' keys another seal and touches no body; `rewrite` encrypts the bodies anew, under new keys. */
  readonly mode: 'reseal' | 'rewrite';
  readonly objectsPerSecond: number;
  readonly started: number;
  readonly finished?: number;
  /** The last object that was looked at. */
  readonly after?: Place;
  readonly looked: number;
  /** Objects and uploads that have the new key. */
  readonly done: number;
  readonly failed: number;
  /** The first that failed, and why. */
  readonly failure?: Place & { readonly message: string };
}

const stateKey = key('system', 'reseal');

export async function readResealState(records: Pick<RecordStore, 'get'>): Promise<ResealState | undefined> {
  const entry = await records.get(stateKey);
  return entry && (decodeRecord(entry.value, 'the change of keys') as ResealState);
}

export async function writeResealState(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  state: ResealState,
  random: (size: number) => Buffer,
): Promise<void> {
  await commitOnce(records, { put: [{ key: stateKey, value: encodeRecord(state) }] }, random);
}
