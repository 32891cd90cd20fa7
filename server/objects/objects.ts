import { S3Error } from '../../protocol/s3/s3-error.ts';
import { randomBytes } from 'node:crypto';
import { SharedMutex } from '../shared-memory/shared-mutex.ts';
import { type DigestKeys, noDigestKeys } from '../encryption/digest-keys.ts';
import type { KeySource } from '../encryption/key-source.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import {
  deleteBucketEncryption,
  getBucketEncryption,
  putBucketEncryption,
  deleteBucketPolicy,
  getBucketPolicy,
  putBucketPolicy,
  changeBucketTags,
  deleteBucketTags,
  deleteBucketCors,
  deleteBucketLifecycle,
  getBucketLifecycle,
  putBucketLifecycle,
  getBucketNotification,
  putBucketNotification,
  getBucketCors,
  putBucketCors,
  getBucketVersioning,
  getObjectLockConfiguration,
  putBucketVersioning,
  putObjectLockConfiguration,
  getBucketTags,
  getBucketAcl,
  getBucketCharges,
  getBucketWebsite,
  putBucketCharges,
  putBucketWebsite,
  getOwnership,
  getPublicAccessBlock,
  putBucketAcl,
  putOwnership,
  putPublicAccessBlock,
  putBucketTags,
} from './buckets/bucket-configuration.ts';
import { getSettingTag } from './buckets/setting-tag.ts';
import { countsAcl } from './attributes/object-acl.ts';
import { getAccountPublicAccessBlock, putAccountPublicAccessBlock } from './attributes/account-block.ts';
import { getBucketLogging, putBucketLogging } from './buckets/bucket-logging.ts';
import { deleteBucketInventory, getBucketInventories, putBucketInventory } from './buckets/bucket-inventory.ts';
import { deliverObject, encryptsDelivery } from './operations/deliver-object.ts';
import { getBucketQuota, putBucketQuota } from './buckets/bucket-quota.ts';
import { createBucket, headBucket, listBuckets, deleteBucket } from './buckets/buckets.ts';
import { copyObject } from './operations/copy-object.ts';
import { deleteObject, expireObject } from './operations/delete-object.ts';
import type { ObjectContext, SpaceCheck } from './context/context.ts';
import type { DamageEvent } from './contract/damage-event.ts';
import type { LeftUploads } from './contract/left-uploads.ts';
import { QuarantineCheckTimes } from './context/quarantine-check-times.ts';
import { getIntactObject, headIntactObject } from './operations/get-object.ts';
import type { BufferSlots } from './hashing/buffer-slots.ts';
import { listObjects } from './listings/list-objects.ts';
import { listObjectVersions } from './listings/list-object-versions.ts';
import {
  getObjectAcl,
  getObjectLock,
  getObjectTags,
  putObjectAcl,
  putObjectLegalHold,
  putObjectRetention,
  putObjectTags,
} from './attributes/update-object.ts';
import { abortMultipartUpload, createMultipartUpload, uploadEncryption } from './multipart/multipart-uploads.ts';
import { completeMultipartUpload } from './multipart/complete-multipart-upload.ts';
import { listMultipartUploads } from './multipart/list-multipart-uploads.ts';
import { listParts, copyPart, putPart } from './multipart/parts.ts';
import type { ObjectLayer } from './contract/object-layer.ts';
import { putObject } from './operations/put-object.ts';
import { renameObject } from './operations/rename-object.ts';
import { rewriteBody } from './operations/rewrite-body.ts';
import { getBucketReplication, putBucketReplication } from './buckets/bucket-replication.ts';
import { putReplicaAttributes } from './attributes/replica-attributes.ts';
import { queueResync } from './replication/queue-resync.ts';
import { setReplicationStatus, setReplicationStatuses } from './replication/replication-status.ts';
import { moveBody } from './segments/move-body.ts';
import { DecodedBuckets } from './records/bucket-record.ts';
import { translateFailure } from './operations/translate-failure.ts';
import { endRestoredCopy, requestRestore, restoreQueued } from './tiers/restore-object.ts';
import { transitionQueued } from './tiers/transition-at-once.ts';
import { transitionObject } from './tiers/transition-object.ts';
import { KeyedMutex } from '../../platform/async/concurrency.ts';
import { WrittenFormat } from '../store/written-format.ts';
import { noTiers, type Tiers } from './contract/tiers.ts';
import { lockClock } from './contract/lock-clock.ts';
import type { EventHub } from './context/event-hub.ts';
import { noEventHub } from './context/event-hub.ts';

export interface ObjectLayerOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** `noKeySource` where no key service is configured. */
  readonly keys: KeySource;
  /** None by default: then nothing is encrypted under the key service, and sealed digests cannot be shown. */
  readonly digests?: DigestKeys;
  /** Milliseconds since 1970; `Date.now` by default. */
  readonly clock?: () => number;
  /** Milliseconds that no change of the clock moves; those of the process by default, or of `clock` where that is given. */
  readonly monotonic?: () => number;
  /** Cryptographically random bytes; `randomBytes` by default. */
  readonly random?: (size: number) => Buffer;
  /** Bodies up to this size in plaintext bytes are stored in the record store; 128 KiB by default. */
  readonly inlineLimit?: number;
  /** True for SSE-KMS under the default key where neither request nor bucket asks for encryption. */
  readonly autoEncryption?: boolean;
  /** Writes are refused below this free space of the blobs or the records; none by default. */
  readonly reserve?: Reserve;
  /** The buffer slots of this thread; without them the thread itself hashes large bodies. */
  readonly bufferSlots?: BufferSlots;
  /** Milliseconds of a day of lifecycle rules; 24 hours by default. */
  readonly lifecycleDayMs?: number;
  /** No listener is set by default. */
  readonly events?: EventHub;
  /** None by default. */
  readonly tiers?: Tiers;
  /** Called when an object is quarantined or released, and when a second read found whole bytes. No listener by default. */
  readonly onDamage?: (event: DamageEvent) => void;
  /** Called after a commit that ended uploads that another server had left. No listener by default. */
  readonly onUploadsEnded?: (ended: LeftUploads) => void;
  /** The mutex that all threads of the process share; a new one by default. */
  readonly blockSumsMutex?: SharedMutex;
}

const INLINE_LIMIT = 128 * 1024;

/** Creates the object layer. Each operation is a function in a file of its own. */
export function createObjectLayer(options: ObjectLayerOptions): ObjectLayer {
  const clock = options.clock ?? Date.now;
  const context: ObjectContext = {
    records: options.records,
    blobs: options.blobs,
    keys: options.keys,
    digests: options.digests ?? noDigestKeys,
    clock,
    lockClock: lockClock(clock, options.monotonic ?? options.clock ?? (() => performance.now())),
    random: options.random ?? pooledRandom(randomBytes),
    inlineLimit: options.inlineLimit ?? INLINE_LIMIT,
    autoEncryption: options.autoEncryption ?? false,
    checkSpace: spaceCheck(volumesOf(options), options.reserve, clock),
    writeMutexes: new KeyedMutex(),
    buckets: new DecodedBuckets(),
    written: new WrittenFormat(options.records),
    keyUses: new Map(),
    pendingBlockSums: new Map(),
    blockSumsMutex: options.blockSumsMutex ?? new SharedMutex(),
    bufferSlots: options.bufferSlots,
    lifecycleDayMs: options.lifecycleDayMs ?? 86_400_000,
    events: options.events ?? noEventHub,
    tiers: options.tiers ?? noTiers,
    onDamage: options.onDamage ?? (() => undefined),
    onUploadsEnded: options.onUploadsEnded ?? (() => undefined),
    quarantineChecks: new QuarantineCheckTimes(),
  };
  return layerOf(context);
}

function layerOf(context: ObjectContext): ObjectLayer {
  return {
    expecting: (condition) => layerOf({ ...context, condition }),
    getSettingTag: operation(context, getSettingTag),
    createBucket: operation(context, createBucket),
    headBucket: operation(context, headBucket),
    listBuckets: operation(context, listBuckets),
    deleteBucket: operation(context, deleteBucket),
    getBucketEncryption: operation(context, getBucketEncryption),
    putBucketEncryption: operation(context, putBucketEncryption),
    deleteBucketEncryption: operation(context, deleteBucketEncryption),
    getBucketPolicy: operation(context, getBucketPolicy),
    putBucketPolicy: operation(context, putBucketPolicy),
    deleteBucketPolicy: operation(context, deleteBucketPolicy),
    getAccountPublicAccessBlock: operation(context, getAccountPublicAccessBlock),
    putAccountPublicAccessBlock: operation(context, putAccountPublicAccessBlock),
    countsAcl: operation(context, countsAcl),
    getPublicAccessBlock: operation(context, getPublicAccessBlock),
    putPublicAccessBlock: operation(context, putPublicAccessBlock),
    getBucketLogging: operation(context, getBucketLogging),
    putBucketLogging: operation(context, putBucketLogging),
    getBucketInventories: operation(context, getBucketInventories),
    putBucketInventory: operation(context, putBucketInventory),
    deleteBucketInventory: operation(context, deleteBucketInventory),
    getBucketWebsite: operation(context, getBucketWebsite),
    putBucketWebsite: operation(context, putBucketWebsite),
    getBucketCharges: operation(context, getBucketCharges),
    putBucketCharges: operation(context, putBucketCharges),
    getBucketQuota: operation(context, getBucketQuota),
    putBucketQuota: operation(context, putBucketQuota),
    getOwnership: operation(context, getOwnership),
    putOwnership: operation(context, putOwnership),
    getBucketAcl: operation(context, getBucketAcl),
    putBucketAcl: operation(context, putBucketAcl),
    getBucketTags: operation(context, getBucketTags),
    putBucketTags: operation(context, putBucketTags),
    changeBucketTags: operation(context, changeBucketTags),
    deleteBucketTags: operation(context, deleteBucketTags),
    getBucketCors: operation(context, getBucketCors),
    putBucketCors: operation(context, putBucketCors),
    deleteBucketCors: operation(context, deleteBucketCors),
    getBucketLifecycle: operation(context, getBucketLifecycle),
    putBucketLifecycle: operation(context, putBucketLifecycle),
    deleteBucketLifecycle: operation(context, deleteBucketLifecycle),
    getBucketNotification: operation(context, getBucketNotification),
    putBucketNotification: operation(context, putBucketNotification),
    getBucketReplication: operation(context, getBucketReplication),
    putBucketReplication: operation(context, putBucketReplication),
    putReplicaAttributes: operation(context, putReplicaAttributes),
    setReplicationStatus: operation(context, setReplicationStatus),
    setReplicationStatuses: operation(context, setReplicationStatuses),
    queueResync: operation(context, queueResync),
    getBucketVersioning: operation(context, getBucketVersioning),
    putBucketVersioning: operation(context, putBucketVersioning),
    getObjectLockConfiguration: operation(context, getObjectLockConfiguration),
    putObjectLockConfiguration: operation(context, putObjectLockConfiguration),
    putObject: operation(context, putObject),
    deliverObject: operation(context, deliverObject),
    encryptsDelivery: operation(context, encryptsDelivery),
    headObject: operation(context, headIntactObject),
    getObject: operation(context, getIntactObject),
    copyObject: operation(context, copyObject),
    renameObject: operation(context, renameObject),
    deleteObject: operation(context, deleteObject),
    expireObject: operation(context, expireObject),
    transitionObject: operation(context, transitionObject),
    requestRestore: operation(context, requestRestore),
    restoreQueued: operation(context, restoreQueued),
    endRestoredCopy: operation(context, endRestoredCopy),
    transitionQueued: operation(context, transitionQueued),
    listObjects: operation(context, listObjects),
    listObjectVersions: operation(context, listObjectVersions),
    getObjectTags: operation(context, getObjectTags),
    putObjectTags: operation(context, putObjectTags),
    getObjectAcl: operation(context, getObjectAcl),
    putObjectAcl: operation(context, putObjectAcl),
    getObjectLock: operation(context, getObjectLock),
    putObjectRetention: operation(context, putObjectRetention),
    putObjectLegalHold: operation(context, putObjectLegalHold),
    rewriteBody: operation(context, rewriteBody),
    moveBody: (blob, owner) => moveBody(context, blob, owner),
    createMultipartUpload: operation(context, createMultipartUpload),
    putPart: operation(context, putPart),
    copyPart: operation(context, copyPart),
    completeMultipartUpload: operation(context, completeMultipartUpload),
    uploadEncryption: operation(context, uploadEncryption),
    abortMultipartUpload: operation(context, abortMultipartUpload),
    listParts: operation(context, listParts),
    listMultipartUploads: operation(context, listMultipartUploads),
  };
}

function volumesOf({ blobs, records }: ObjectLayerOptions): Volumes {
  return { bodies: () => blobs.space(), records: () => records.space?.() ?? Promise.resolve(undefined) };
}

/** Binds an operation to the context, and translates its errors to those of the protocol. */
function operation<Arguments extends readonly unknown[], Result>(
  context: ObjectContext,
  run: (context: ObjectContext, ...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return (...given) => run(context, ...given).catch(throwTranslated);
}

function throwTranslated(error: unknown): never {
  throw translateFailure(error);
}

/** The space of each volume that stays free. */
type Reserve = { readonly bytes: number } | { readonly percent: number };

/** The file system of the bodies and that of the records, which may be another. Undefined where a store does not report its space. */
export interface Volumes {
  readonly bodies: () => Promise<Space | undefined>;
  readonly records: () => Promise<Space | undefined>;
}

interface Space {
  readonly free: number;
  readonly total: number;
}

/** The maximum age of a measurement in milliseconds: measuring for each of 20,000 writes a second would be too expensive. */
const MAX_AGE = 1000;

function spaceCheck(volumes: Volumes, reserve: Reserve | undefined, clock: () => number): SpaceCheck {
  if (reserve === undefined) return () => undefined;
  let measured = -Infinity;
  let bodies: Space | undefined;
  let records: Space | undefined;
  let measuring: Promise<void> | undefined;
  const measure = async () => {
    try {
      [bodies, records] = await Promise.all([volumes.bodies(), volumes.records()]);
      measured = clock();
    } finally {
      measuring = undefined;
    }
  };
  const judge = (announced: number) => {
    if (records !== undefined) refuseBelow(reserve, 'records', records, 0);
    // A write to the records alone may use the space of deleted records, on a full disk too.
    if (bodies !== undefined && (announced > 0 || records === undefined)) {
      refuseBelow(reserve, 'bodies', bodies, announced);
    }
  };
  return (announced) => {
    const now = clock();
    if (now - measured < MAX_AGE && now >= measured) return judge(announced);
    return (measuring ??= measure()).then(() => judge(announced));
  };
}

function refuseBelow(reserve: Reserve, holds: string, space: Space, announced: number): void {
  const kept = 'bytes' in reserve ? reserve.bytes : (space.total * reserve.percent) / 100;
  if (space.free - announced >= kept) return;
  const body = announced > 0 ? `, the body has ${mebibytes(announced)}` : '';
  throw new S3Error(
    'XMinioStorageFull',
    `Only ${mebibytes(space.free)} are free for ${holds}${body}, and ${mebibytes(kept)} are reserved (SVC_STORAGE_RESERVE). Delete objects to go on.`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}

/** The bytes of one call: a call of the system's generator costs 9 µs for any count of bytes, and each write needs some twice. */
const POOL_BYTES = 4096;

/** Returns random bytes of `source`, which it reads many at a time. Each byte is returned once and then erased from the pool. */
export function pooledRandom(source: (size: number) => Buffer): (size: number) => Buffer {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (size > POOL_BYTES / 4) return source(size);
    if (used + size > pool.length) {
      pool = source(POOL_BYTES);
      used = 0;
    }
    const taken = Buffer.from(pool.subarray(used, used + size));
    pool.fill(0, used, used + size);
    used += size;
    return taken;
  };
}
