/** The actions on buckets that the pages ask about. */
export const bucketActions = [
  's3:ListBucket',
  's3:ListBucketVersions',
  's3:DeleteBucket',
  's3:GetEncryptionConfiguration',
  's3:PutEncryptionConfiguration',
  's3:GetBucketVersioning',
  's3:PutBucketVersioning',
  's3:GetBucketObjectLockConfiguration',
  's3:PutBucketObjectLockConfiguration',
  's3:GetBucketTagging',
  's3:PutBucketTagging',
  's3:GetBucketCORS',
  's3:PutBucketCORS',
  's3:GetLifecycleConfiguration',
  's3:PutLifecycleConfiguration',
  's3:GetBucketPolicy',
  's3:PutBucketPolicy',
  's3:DeleteBucketPolicy',
  's3:GetBucketPublicAccessBlock',
  's3:PutBucketPublicAccessBlock',
  's3:GetBucketWebsite',
  's3:PutBucketWebsite',
  's3:DeleteBucketWebsite',
  's3:GetBucketLogging',
  's3:PutBucketLogging',
  's3:GetBucketNotification',
  's3:PutBucketNotification',
  's3:GetReplicationConfiguration',
  's3:PutReplicationConfiguration',
  's3:ResetBucketReplicationState',
] as const;

/** The actions on objects that the pages ask about. */
export const objectActions = [
  's3:GetObject',
  's3:GetObjectVersion',
  's3:PutObject',
  's3:DeleteObject',
  's3:DeleteObjectVersion',
  's3:GetObjectTagging',
  's3:PutObjectTagging',
  's3:GetObjectRetention',
  's3:PutObjectRetention',
  's3:GetObjectLegalHold',
  's3:PutObjectLegalHold',
  's3:BypassGovernanceRetention',
  's3:AbortMultipartUpload',
] as const;

export type BucketAction = (typeof bucketActions)[number];
export type ObjectAction = (typeof objectActions)[number];

/** All actions that the policy engine allows the user. */
export interface BucketRights {
  readonly bucket: readonly BucketAction[];
  /** Allowed for each object below the prefix. */
  readonly every: readonly ObjectAction[];
  /** Allowed for some object below the prefix, as far as can be said without its key. */
  readonly some: readonly ObjectAction[];
  /** Allowed for some object directly in the folder of the prefix. */
  readonly here: readonly ObjectAction[];
  /** The user may store some object in some bucket, so that a copy has a place to go. */
  readonly writesSomewhere: boolean;
}

export interface ObjectRights {
  readonly object: readonly ObjectAction[];
}

/** The actions on keys of the key service that the pages ask about. */
export const keyActions = ['keyStatus', 'create', 'import', 'rotate'] as const;

export type KeyAction = (typeof keyActions)[number];

/** The maximum number of keys in one call. */
export const maxKeysAsked = 50;

export interface KeyRightsAnswer {
  /** By the names of the keys that were asked about. */
  readonly keys: Readonly<Record<string, readonly KeyAction[]>>;
  /** Allowed for some key. */
  readonly some: readonly KeyAction[];
}

export interface ShareAnswer {
  readonly url: string;
  /** ISO 8601. It may be earlier than asked for: a link ends with the credentials that sign it. */
  readonly expires: string;
  /** The longest time in seconds that a link works now, and what ends it. */
  readonly longest: number;
  readonly limitedBy: 'policy' | 'session' | 'protocol';
}
