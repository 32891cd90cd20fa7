import type { ObjectPlace } from '../../encryption/object-key.ts';
import type { ObjectContext } from '../../objects/context/context.ts';
import { guardKey } from '../../objects/encryption/decide-encryption.ts';
import { recoverObjectKey, sealUnder } from '../../objects/encryption/object-keys.ts';
import { decodeBucket, encodeBucket } from '../../objects/records/bucket-record.ts';
import {
  decodeObject,
  encodeObject,
  type SealedKeys,
  type ServiceSealedKeys,
} from '../../objects/records/object-record.ts';
import { encodeRecord } from '../../objects/records/record-format.ts';
import { decodeUpload } from '../../objects/records/upload-record.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey } from '../../store/keys.ts';
import type { Entry } from '../../store/record-store.ts';
import type { Place } from '../verify/object-records.ts';
import { objectRecordKey } from '../../objects/records/version-place.ts';

/** The keys that a rewrap moves objects from and to. */
export interface RewrapKeys extends Pick<ObjectContext, 'records' | 'keys' | 'random' | 'clock' | 'keyUses'> {
  readonly from: string;
  readonly to: string;
  /** The newest version of `to`. Objects that have it are not rewrapped again. */
  readonly version?: string;
}

/** Reports if the data key is under the old key, or the old version. */
export function hasOldKey(
  { from, version }: Pick<RewrapKeys, 'from' | 'version'>,
  sealed: SealedKeys | undefined,
): sealed is ServiceSealedKeys {
  if (sealed === undefined || sealed.scheme === 'SSE-C' || sealed.keyName !== from) return false;
  return version === undefined || sealed.keyVersion !== version;
}

/** An object that is replaced again and again gets the new key by a replacement. */
const ATTEMPTS = 10;

/**
 * Rewraps the key of a version. Its body, ETag and time do not change. The commit expects the record that was read, so that a
 * concurrent write is not lost. Returns false where there is nothing to do.
 */
export async function rewrapObject(rewrapKeys: RewrapKeys, place: Place): Promise<boolean> {
  const { bucket, key } = place;
  const recordKey = objectRecordKey(place);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const entry = await rewrapKeys.records.get(recordKey);
    if (entry === undefined) return false;
    const record = decodeObject(entry.value, bucket, key);
    const sealed = await rewrappedKeys(rewrapKeys, record.sealed, { bucket, key, id: record.id });
    if (sealed === undefined) return false;
    if (await replaced(rewrapKeys, entry, encodeObject({ ...record, sealed }), sealed, attempt)) return true;
  }
  throw new Error(`the object was replaced ${ATTEMPTS} times while its key was changed`);
}

/** Rewraps the key of an upload in progress, which its parts share. */
export async function rewrapUpload(rewrapKeys: RewrapKeys, listed: Entry): Promise<boolean> {
  const [, bucket = '', key = '', id = ''] = decodeKey(listed.key).map(String);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const entry = await rewrapKeys.records.get(listed.key);
    if (entry === undefined) return false;
    const record = decodeUpload(entry.value, id);
    const sealed = await rewrappedKeys(rewrapKeys, record.sealed, { bucket, key, id });
    if (sealed === undefined) return false;
    if (await replaced(rewrapKeys, entry, encodeRecord({ ...record, sealed }), sealed, attempt)) return true;
  }
  throw new Error(`the upload changed ${ATTEMPTS} times while its key was changed`);
}

/** Gives the new key to a bucket whose default is the old one. */
export async function rewrapBucket(rewrapKeys: RewrapKeys, listed: Entry): Promise<void> {
  const bucket = String(decodeKey(listed.key)[1]);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const entry = await rewrapKeys.records.get(listed.key);
    const record = entry && decodeBucket(entry.value, bucket);
    const encryption = record?.encryption;
    if (entry === undefined || record === undefined || encryption?.scheme !== 'SSE-KMS') return;
    if (encryption.keyName !== rewrapKeys.from || rewrapKeys.from === rewrapKeys.to) return;
    const value = encodeBucket({ ...record, encryption: { ...encryption, keyName: rewrapKeys.to } });
    const settled = await commitOnce(
      rewrapKeys.records,
      {
        expect: [{ kind: 'revision', key: entry.key, revision: entry.revision }],
        put: [{ key: entry.key, value }],
      },
      rewrapKeys.random,
    );
    if (settled.kind === 'committed') return;
  }
}

/** Returns undefined where the old key is not in use. */
async function rewrappedKeys(
  rewrapKeys: RewrapKeys,
  sealed: SealedKeys | undefined,
  place: ObjectPlace,
): Promise<SealedKeys | undefined> {
  if (!hasOldKey(rewrapKeys, sealed)) return undefined;
  const { bytes: objectKey } = await recoverObjectKey(rewrapKeys, sealed, place);
  const { scheme, context, bucketKey } = sealed;
  return sealUnder(
    rewrapKeys,
    { scheme, keyName: rewrapKeys.to, ...(context && { context }), ...(bucketKey !== undefined && { bucketKey }) },
    place,
    objectKey,
  );
}

async function replaced(
  rewrapKeys: RewrapKeys,
  { key, revision }: Entry,
  value: Buffer,
  sealed: SealedKeys,
  attempt: number,
): Promise<boolean> {
  const guard = await guardKey(rewrapKeys, sealed, attempt);
  const expect = [{ kind: 'revision' as const, key, revision }, ...guard];
  return (
    (await commitOnce(rewrapKeys.records, { expect, put: [{ key, value }] }, rewrapKeys.random)).kind === 'committed'
  );
}
