import { backendKeyRecord, keyOfBackend } from '../encryption/backend-key.ts';
import { decodeBucket } from '../objects/records/bucket-record.ts';
import { decodeHead, hasHead } from '../objects/records/object-head.ts';
import { decodeObject } from '../objects/records/object-record.ts';
import { decodeUpload } from '../objects/records/upload-record.ts';
import { decodeKey, within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { entries } from './object-records.ts';

/** What is encrypted with a named key, and what will be. */
export interface KeyUsage {
  readonly objects: number;
  /** Uploads under way. */
  readonly uploads: number;
  /** Buckets whose default it is; at most `MOST_BUCKETS` of them by name. */
  readonly buckets: readonly string[];
  /** Identities and settings. */
  readonly backend: boolean;
}

export interface UsageOptions {
  readonly records: RecordStore;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (looked: number) => void;
}

const MOST_BUCKETS = 100;
const none: KeyUsage = { objects: 0, uploads: 0, buckets: [], backend: false };

/**
 * Counts by the name of the key; every key that is used is there. It reads all records of objects, and no body: a million takes some
 * seconds. Uploads come first: one that is completed meanwhile is found as an object.
 */
export async function keyUsage({ records, signal, onProgress }: UsageOptions): Promise<Map<string, KeyUsage>> {
  const found = new Map<string, KeyUsage>();
  const count = (keyName: string, change: (usage: KeyUsage) => KeyUsage) =>
    found.set(keyName, change(found.get(keyName) ?? none));
  const backend = await records.get(backendKeyRecord);
  if (backend !== undefined) count(keyOfBackend(backend.value), (usage) => ({ ...usage, backend: true }));
  for await (const { key, value } of entries(records, within('b'))) {
    const bucket = String(decodeKey(key)[1]);
    const { encryption } = decodeBucket(value, bucket);
    if (encryption?.scheme !== 'SSE-KMS' || encryption.keyName === undefined) continue;
    count(encryption.keyName, (usage) =>
      usage.buckets.length < MOST_BUCKETS ? { ...usage, buckets: [...usage.buckets, bucket] } : usage,
    );
  }
  for await (const { key, value } of entries(records, within('u'))) {
    signal?.throwIfAborted();
    const { sealed } = decodeUpload(value, String(decodeKey(key)[3]));
    if (sealed === undefined || sealed.scheme === 'SSE-C') continue;
    count(sealed.keyName, (usage) => ({ ...usage, uploads: usage.uploads + 1 }));
  }
  let looked = 0;
  for await (const { key, value } of entries(records, within('o'))) {
    signal?.throwIfAborted();
    looked += 1;
    if (looked % 1_000 === 0) onProgress?.(looked);
    const keyName = keyOfObject(key, value);
    if (keyName !== undefined) count(keyName, (usage) => ({ ...usage, objects: usage.objects + 1 }));
  }
  onProgress?.(looked);
  return found;
}

/** Undefined for what no key of the key service encrypts. What is plain is not decoded. */
function keyOfObject(recordKey: Buffer, value: Buffer): string | undefined {
  const [, bucket = '', key = ''] = decodeKey(recordKey).map(String);
  if (hasHead(value) && !decodeHead(value, `object ${bucket}/${key}`).encrypted) return undefined;
  const { sealed } = decodeObject(value, bucket, key);
  return sealed === undefined || sealed.scheme === 'SSE-C' ? undefined : sealed.keyName;
}
