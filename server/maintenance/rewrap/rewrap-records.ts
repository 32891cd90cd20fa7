import type { ObjectPlace } from '../../encryption/object-key.ts';
import type { Environment } from '../../objects/context.ts';
import { guardKey } from '../../objects/encryption/key-use.ts';
import { recoverObjectKey, sealUnder } from '../../objects/encryption/object-keys.ts';
import { decodeBucket, encodeBucket } from '../../objects/records/bucket-record.ts';
import {
  decodeObject,
  encodeObject,
  type SealedKeys,
  type ServiceSealedKeys,
} from '../../objects/records/object-record.ts';
import { encodeRecord } from '../../objects/records/record-format.ts';
import { recordKeys } from '../../objects/records/record-keys.ts';
import { decodeUpload } from '../../objects/records/upload-record.ts';
import { commitOnce } from '../../store/commit-once.ts';
import { decodeKey } from '../../store/keys.ts';
import type { Entry } from '../../store/record-store.ts';
import type { Place } from '../verify/object-records.ts';

/** What the keys of objects are sealed anew with. */
export interface Sealing extends Pick<Environment, 'records' | 'keys' | 'random' | 'clock' | 'keyUses'> {
  readonly from: string;
  readonly to: string;
  /** Where it is given: of `to`, and what has it is not sealed again. */
  readonly version?: string;
}

/** Whether this is sealed under the key, or the version, that goes. */
export function hasOldKey(
  { from, version }: Pick<Sealing, 'from' | 'version'>,
  sealed: SealedKeys | undefined,
): sealed is ServiceSealedKeys {
  if (sealed === undefined || sealed.scheme === 'SSE-C' || sealed.keyName !== from) return false;
  return version === undefined || sealed.keyVersion !== version;
}

/** Who replaces an object again and again gives it the new key sooner or later. */
const ATTEMPTS = 10;

/**
 * Gives an object's own key another seal. Its body, its ETag and its time stay as they are; the new record takes the place of the very
 * one that was read, so that nothing which was put meanwhile is lost. False where there is nothing to do.
 */
export async function resealObject(sealing: Sealing, place: Place): Promise<boolean> {
  const recordKey = recordKeys.object(place.bucket, place.key);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const entry = await sealing.records.get(recordKey);
    if (entry === undefined) return false;
    const record = decodeObject(entry.value, place.bucket, place.key);
    const sealed = await sealedAnew(sealing, record.sealed, { ...place, id: record.id });
    if (sealed === undefined) return false;
    if (await replaced(sealing, entry, encodeObject({ ...record, sealed }), sealed, attempt)) return true;
  }
  throw new Error(`the object was replaced ${ATTEMPTS} times while its key was changed`);
}

/** The same for an upload under way, whose parts have its key. */
export async function resealUpload(sealing: Sealing, listed: Entry): Promise<boolean> {
  const [, bucket = '', key = '', id = ''] = decodeKey(listed.key).map(String);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const entry = await sealing.records.get(listed.key);
    if (entry === undefined) return false;
    const record = decodeUpload(entry.value, id);
    const sealed = await sealedAnew(sealing, record.sealed, { bucket, key, id });
    if (sealed === undefined) return false;
    if (await replaced(sealing, entry, encodeRecord({ ...record, sealed }), sealed, attempt)) return true;
  }
  throw new Error(`the upload changed ${ATTEMPTS} times while its key was changed`);
}

/** New objects of a bucket whose default names the old key get the new one. */
export async function resealBucket(sealing: Sealing, listed: Entry): Promise<void> {
  const bucket = String(decodeKey(listed.key)[1]);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const entry = await sealing.records.get(listed.key);
    const record = entry && decodeBucket(entry.value, bucket);
    const encryption = record?.encryption;
    if (entry === undefined || record === undefined || encryption?.scheme !== 'SSE-KMS') return;
    if (encryption.keyName !== sealing.from || sealing.from === sealing.to) return;
    const value = encodeBucket({ ...record, encryption: { ...encryption, keyName: sealing.to } });
    const settled = await commitOnce(
      sealing.records,
      {
        expect: [{ kind: 'revision', key: entry.key, revision: entry.revision }],
        put: [{ key: entry.key, value }],
      },
      sealing.random,
    );
    if (settled.kind === 'committed') return;
  }
}

/** Undefined where it has not the old key. */
async function sealedAnew(
  sealing: Sealing,
  sealed: SealedKeys | undefined,
  place: ObjectPlace,
): Promise<SealedKeys | undefined> {
  if (!hasOldKey(sealing, sealed)) return undefined;
  const { bytes: objectKey } = await recoverObjectKey(sealing, sealed, place);
  const { scheme, context, bucketKey } = sealed;
  return sealUnder(
    sealing,
    { scheme, keyName: sealing.to, ...(context && { context }), ...(bucketKey !== undefined && { bucketKey }) },
    place,
    objectKey,
  );
}

async function replaced(
  sealing: Sealing,
  { key, revision }: Entry,
  value: Buffer,
  sealed: SealedKeys,
  attempt: number,
): Promise<boolean> {
  const guard = await guardKey(sealing, sealed, attempt);
  const expect = [{ kind: 'revision' as const, key, revision }, ...guard];
  return (await commitOnce(sealing.records, { expect, put: [{ key, value }] }, sealing.random)).kind === 'committed';
}
