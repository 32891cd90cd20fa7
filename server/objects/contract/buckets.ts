import type { ObjectOwnership } from '../../../protocol/s3/access/ownership-controls.ts';
import type { RequestedAcl } from '../../../protocol/s3/acl.ts';
import type { BucketEncryptionRule } from '../../../protocol/s3/bucket-encryption.ts';
import type { Retention } from './objects.ts';

export interface CreateBucket {
  readonly location: string;
  readonly objectLock?: boolean;
  /** `BucketOwnerEnforced` by default. */
  readonly ownership?: ObjectOwnership | undefined;
  readonly acl?: RequestedAcl | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

export interface Bucket {
  readonly name: string;
  readonly created: Date;
  readonly location: string;
}

/** The default encryption of a bucket, and the encryptions that it blocks. */
export type BucketEncryption = BucketEncryptionRule;

/** The versioning of a bucket. The excluded keys are an extension of MinIO: their objects have the null version alone. */
export interface BucketVersioning {
  readonly status: 'Enabled' | 'Suspended';
  /** Prefixes, which may contain `*`. */
  readonly excludedPrefixes?: readonly string[];
  /** True where keys that end with a slash are excluded. */
  readonly excludeFolders?: boolean;
}

export interface ObjectLockConfiguration {
  /** The retention of new versions that the request gives none. It has either days or years. */
  readonly defaultRetention?: {
    readonly mode: Retention['mode'];
    readonly days?: number;
    readonly years?: number;
  };
}

/** Settings that only clients of Amazon's service need. The server stores them. */
export interface BucketCharges {
  readonly payer?: 'BucketOwner' | 'Requester';
  readonly acceleration?: 'Enabled' | 'Suspended';
}

/** The quota of a bucket, and what is counted against it. */
export interface BucketQuota {
  /** The maximum of bytes: of all versions and of the parts of unfinished uploads, in the sizes that clients see. */
  readonly bytes: number;
  readonly used: number;
  /** True while, or because, the first count has not ended: `used` is too small. */
  readonly counting: boolean;
}

/** A setting of a bucket that S3 reads and writes as a whole. */
export type BucketSetting = RecordSetting | 'payer' | 'acceleration' | 'logging' | 'inventory';

/** A setting that is a field of the bucket's record. */
type RecordSetting =
  | 'encryption'
  | 'policy'
  | 'tags'
  | 'cors'
  | 'lifecycle'
  | 'notification'
  | 'replication'
  | 'versioning'
  | 'objectLock'
  | 'publicAccessBlock'
  | 'ownership'
  | 'website'
  | 'grants';

/** The state that a change of a setting expects: one of the ETags of `getSettingTag`, or that the setting is absent. */
export interface SettingCondition {
  readonly setting: BucketSetting;
  /** The ID of one of several configurations: those of inventories. */
  readonly id?: string | undefined;
  /** `*` is any, and not none. */
  readonly ifMatch?: readonly string[];
  readonly ifAbsent?: boolean;
}
