import { randomBytes } from 'node:crypto';
import { SharedMutex } from '../../platform/shared-mutex.ts';
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
  deleteBucketTags,
  getBucketTags,
  putBucketTags,
} from './buckets/bucket-configuration.ts';
import { createBucket, headBucket, listBuckets, deleteBucket } from './buckets/buckets.ts';
import { copyObject } from './operations/copy-object.ts';
import { deleteObject } from './operations/delete-object.ts';
import { type Environment, pooledRandom, Turns } from './context.ts';
import { getIntactObject, headIntactObject } from './operations/get-object.ts';
import type { Seats } from './hashing/buffer-slots.ts';
import { listObjects } from './operations/list-objects.ts';
import { abortMultipartUpload, createMultipartUpload, uploadEncryption } from './multipart/multipart-uploads.ts';
import { completeMultipartUpload } from './multipart/complete-multipart-upload.ts';
import { listMultipartUploads } from './multipart/list-multipart-uploads.ts';
import { listParts, copyPart, putPart } from './multipart/parts.ts';
import type { ObjectLayer } from './object-layer.ts';
import { putObject } from './operations/put-object.ts';
import { DecodedBuckets } from './records/bucket-record.ts';
import { type Reserve, spaceCheck, type Volumes } from './operations/space-check.ts';
import { translateFailure } from './operations/translate-failure.ts';

export interface ObjectLayerOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** `noKeySource` where no key service is configured. */
  readonly keys: KeySource;
  /** None by default: then nothing is encrypted under the key service, and sealed digests cannot be shown. */
  readonly digests?: DigestKeys;
  /** Milliseconds since 1970; `Date.now` by default. */
  readonly clock?: () => number;
  /** Cryptographically random bytes; `randomBytes` by default. */
  readonly random?: (size: number) => Buffer;
  /** Bodies up to this size in plaintext bytes are stored in the record store; 128 KiB by default. */
  readonly inlineLimit?: number;
  /** True for SSE-KMS under the default key where neither request nor bucket asks for encryption. */
  readonly autoEncryption?: boolean;
  /** Writes are refused below this free space of the blobs or the records; none by default. */
  readonly reserve?: Reserve;
  /** The buffer slots of this thread; without them the thread itself hashes large bodies. */
  readonly seats?: Seats;
  /** The mutex that all threads of the process share; a new one by default. */
  readonly blockSumsMutex?: SharedMutex;
}

const INLINE_LIMIT = 128 * 1024;

/** Creates the object layer. Each operation is a function in a file of its own. */
export function createObjectLayer(options: ObjectLayerOptions): ObjectLayer {
  const clock = options.clock ?? Date.now;
  const environment: Environment = {
    records: options.records,
    blobs: options.blobs,
    keys: options.keys,
    digests: options.digests ?? noDigestKeys,
    clock,
    random: options.random ?? pooledRandom(randomBytes),
    inlineLimit: options.inlineLimit ?? INLINE_LIMIT,
    autoEncryption: options.autoEncryption ?? false,
    checkSpace: spaceCheck(volumesOf(options), options.reserve, clock),
    turns: new Turns(),
    buckets: new DecodedBuckets(),
    keyUses: new Map(),
    blockSumsUnderWay: new Map(),
    blockSumsMutex: options.blockSumsMutex ?? new SharedMutex(),
    seats: options.seats,
  };
  return {
    createBucket: operation(environment, createBucket),
    headBucket: operation(environment, headBucket),
    listBuckets: operation(environment, listBuckets),
    deleteBucket: operation(environment, deleteBucket),
    getBucketEncryption: operation(environment, getBucketEncryption),
    putBucketEncryption: operation(environment, putBucketEncryption),
    deleteBucketEncryption: operation(environment, deleteBucketEncryption),
    getBucketPolicy: operation(environment, getBucketPolicy),
    putBucketPolicy: operation(environment, putBucketPolicy),
    deleteBucketPolicy: operation(environment, deleteBucketPolicy),
    getBucketTags: operation(environment, getBucketTags),
    putBucketTags: operation(environment, putBucketTags),
    deleteBucketTags: operation(environment, deleteBucketTags),
    putObject: operation(environment, putObject),
    headObject: operation(environment, headIntactObject),
    getObject: operation(environment, getIntactObject),
    copyObject: operation(environment, copyObject),
    deleteObject: operation(environment, deleteObject),
    listObjects: operation(environment, listObjects),
    createMultipartUpload: operation(environment, createMultipartUpload),
    putPart: operation(environment, putPart),
    copyPart: operation(environment, copyPart),
    completeMultipartUpload: operation(environment, completeMultipartUpload),
    uploadEncryption: operation(environment, uploadEncryption),
    abortMultipartUpload: operation(environment, abortMultipartUpload),
    listParts: operation(environment, listParts),
    listMultipartUploads: operation(environment, listMultipartUploads),
  };
}

function volumesOf({ blobs, records }: ObjectLayerOptions): Volumes {
  return { bodies: () => blobs.space(), records: () => records.space?.() ?? Promise.resolve(undefined) };
}

/** Binds an operation to the context, and translates its errors to those of the protocol. */
function operation<Arguments extends readonly unknown[], Result>(
  environment: Environment,
  run: (environment: Environment, ...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return (...given) => run(environment, ...given).catch(throwTranslated);
}

function throwTranslated(error: unknown): never {
  throw translateFailure(error);
}
