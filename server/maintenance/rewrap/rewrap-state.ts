import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { PassPosition } from './version-pass.ts';

/** The progress of a rotation. Times are milliseconds since 1970. */
export interface RewrapState extends PassPosition {
  /** The key that objects have, and the key that they get. Both are the same where objects get its newest version. */
  readonly from: string;
  readonly to: string;
  /** The ID of the version that was created for this rotation. Objects that have it are skipped. */
  readonly version?: string;
  /**
   * Set after the first pass: until this time servers may have used cached data keys of the previous version. A second pass finds those
   * objects.
   */
  readonly againAfter?: number;
  /** `reseal` rewraps the keys of objects and touches no body; `rewrite` encrypts the bodies again, under new keys. */
  readonly mode: 'reseal' | 'rewrite';
  readonly objectsPerSecond: number;
  readonly started: number;
  readonly finished?: number;
  readonly looked: number;
  /** The count of objects and uploads that got the new key. */
  readonly done: number;
  readonly failed: number;
  /** The first failure. */
  readonly failure?: {
    readonly bucket: string;
    readonly key: string;
    readonly versionId?: string;
    readonly message: string;
  };
}

const stateKey = key('system', 'reseal');

export async function readRewrapState(records: Pick<RecordStore, 'get'>): Promise<RewrapState | undefined> {
  const entry = await records.get(stateKey);
  return entry && (decodeRecord(entry.value, 'the change of keys') as RewrapState);
}

export async function writeRewrapState(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  state: RewrapState,
  random: (size: number) => Buffer,
): Promise<void> {
  await commitOnce(records, { put: [{ key: stateKey, value: encodeRecord(state) }] }, random);
}
