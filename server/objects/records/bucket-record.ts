import type { RecordStore, Revision, Entry, Batch } from '../../store/record-store.ts';
import type { Bucket, BucketEncryption, BucketVersioning, ObjectLockConfiguration } from '../contract/object-layer.ts';
import type { Grant } from '../../../protocol/s3/acl.ts';
import type { ObjectOwnership } from '../../../protocol/s3/access/ownership-controls.ts';
import type { PublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import type { NotificationRule } from '../../../protocol/s3/bucket-notification.ts';
import type { ReplicationConfiguration } from '../../../protocol/s3/bucket-replication.ts';
import type { BucketCharges } from '../contract/buckets.ts';
import type { Website } from '../../../protocol/s3/bucket-website.ts';
import type { CorsRule } from '../../../protocol/s3/bucket-cors.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeRecord, encodeRecord, parseRecord, recordKeys } from './record-format.ts';

export interface BucketRecord {
  readonly created: number;
  readonly location: string;
  /** The time of the last change of a setting, in milliseconds since 1970; absent before the first one, and in older buckets. */
  readonly changed?: number;
  readonly encryption?: BucketEncryption;
  /** The policy as it was put: JSON text, valid when it was taken. */
  readonly policy?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The rules for pages of other origins. */
  readonly cors?: readonly CorsRule[];
  readonly lifecycle?: readonly LifecycleRule[];
  /** The rules that queue events for targets. */
  readonly notification?: readonly NotificationRule[];
  /** The rules that queue changes for remote targets. */
  readonly replication?: ReplicationConfiguration;
  /** Absent for a bucket that never had versions. */
  readonly versioning?: BucketVersioning;
  /** Present for a bucket with object lock, which is never removed. */
  readonly objectLock?: ObjectLockConfiguration;
  readonly publicAccessBlock?: PublicAccessBlock;
  /** Absent after its removal, and in older buckets: ACLs do not count, as with `BucketOwnerEnforced`. */
  readonly ownership?: ObjectOwnership;
  readonly quota?: StoredQuota;
  readonly website?: Website;
  readonly charges?: BucketCharges;
  /** The grants of the ACL. Absent where the owner alone has full control. */
  readonly grants?: readonly Grant[];
  /**
   * Set while a deletion checks that the bucket is empty. A commit that writes into the bucket removes the mark, so that the last
   * commit of the deletion fails. The mark of a process that died blocks nothing.
   */
  readonly deleting?: true;
}

/** The maximum of bytes of a bucket. Every commit that changes sizes adds to its counter (`server/objects/quota`). */
interface StoredQuota {
  readonly bytes: number;
  /** Names the counter. */
  readonly counter: string;
  /** Set until what the bucket held before the quota is counted. */
  readonly counting?: true;
}

export interface StoredBucket {
  readonly record: BucketRecord;
  readonly revision: Revision;
}

export async function findBucket(records: Pick<RecordStore, 'get'>, bucket: string): Promise<StoredBucket | undefined> {
  const entry = await records.get(recordKeys.bucket(bucket));
  return entry && { record: decodeBucket(entry.value, bucket), revision: entry.revision };
}

/** Throws `NoSuchBucket`. */
export async function getBucket(records: RecordStore, bucket: string): Promise<StoredBucket> {
  const found = await findBucket(records, bucket);
  if (found === undefined) throw noSuchBucket(bucket);
  return found;
}

export function noSuchBucket(bucket: string): S3Error {
  return new S3Error('NoSuchBucket', undefined, { details: { BucketName: bucket } });
}

export function decodeBucket(value: Buffer, bucket: string): BucketRecord {
  const what = `bucket ${bucket}`;
  const [format = 0] = value;
  return (
    format >= VERSIONS && format <= QUOTA ? parseRecord(value, 1, what) : decodeRecord(value, what, QUOTA)
  ) as BucketRecord;
}

/** The format of a bucket with versions or object lock: an older server, which would lose versions, refuses it. */
const VERSIONS = 2;
/** The format of a bucket with a public access block or ACLs: an older server, which would let the public in or lose ACLs, refuses it. */
const ACCESS = 3;
/** The format of a bucket with a quota: an older server, which would not count what it writes, refuses it. */
const QUOTA = 4;

export function encodeBucket(record: BucketRecord): Buffer {
  if (record.quota !== undefined) return encodeRecord(record, QUOTA);
  if (record.publicAccessBlock !== undefined || record.grants !== undefined || countsAcls(record)) {
    return encodeRecord(record, ACCESS);
  }
  return record.versioning === undefined && record.objectLock === undefined
    ? encodeRecord(record)
    : encodeRecord(record, VERSIONS);
}

/** Reports whether anyone asks for events of the bucket. It is the only cost of an operation without observers. */
export function isObserved(
  { events }: { readonly events: { readonly isHeard: boolean } },
  { notification }: BucketRecord,
): boolean {
  return notification !== undefined || events.isHeard;
}

/** Reports whether the ACLs of the bucket and of its objects count. */
export function countsAcls({ ownership }: Pick<BucketRecord, 'ownership'>): boolean {
  return ownership !== undefined && ownership !== 'BucketOwnerEnforced';
}

export function bucketInfo(name: string, record: BucketRecord): Bucket {
  return { name, created: new Date(record.created), location: record.location };
}

/** The maximum of decoded buckets in the cache. The oldest is evicted. */
const MAX_CACHED = 1000;

/**
 * Decodes each revision of a bucket's record once. Every write reads the record, so that the cache is never stale; it saves only the
 * parsing, which for a bucket with a long policy costs more than the rest of the write.
 */
export class DecodedBuckets {
  readonly #known = new Map<string, StoredBucket>();

  /** Returns the bucket as this thread read it last, which may have changed. */
  known(bucket: string): StoredBucket | undefined {
    return this.#known.get(bucket);
  }

  decode(entry: Entry, bucket: string): StoredBucket {
    const known = this.#known.get(bucket);
    if (known?.revision === entry.revision) return known;
    const stored = { record: decodeBucket(entry.value, bucket), revision: entry.revision };
    this.#known.delete(bucket);
    this.#known.set(bucket, stored);
    if (this.#known.size > MAX_CACHED) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return stored;
  }
}

/**
 * Returns the changes for every commit that writes into a bucket: the bucket is unchanged, and a deletion in progress is cancelled. A
 * deletion marks the bucket before it checks it, and so never deletes a bucket that was just written to.
 */
export function guardBucket(bucket: string, stored: StoredBucket): Required<Pick<Batch, 'expect' | 'put'>> {
  const key = recordKeys.bucket(bucket);
  const { deleting, ...record } = stored.record;
  return {
    expect: [{ kind: 'revision', key, revision: stored.revision }],
    put: deleting === true ? [{ key, value: encodeBucket(record) }] : [],
  };
}
