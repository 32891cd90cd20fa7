/**
 * The admin actions of the console's pages. The session lists those that are allowed, so that a user sees no page that would refuse
 * its calls. The API authorizes every call again.
 */
export const consoleActions = [
  'admin:ListUsers',
  'admin:GetUser',
  'admin:CreateUser',
  'admin:EnableUser',
  'admin:DeleteUser',
  'admin:ListGroups',
  'admin:GetGroup',
  'admin:AddUserToGroup',
  'admin:EnableGroup',
  'admin:ListUserPolicies',
  'admin:GetPolicy',
  'admin:CreatePolicy',
  'admin:DeletePolicy',
  'admin:AttachUserOrGroupPolicy',
  'admin:ListServiceAccounts',
  'admin:CreateServiceAccount',
  'admin:UpdateServiceAccount',
  'admin:RemoveServiceAccount',
  'admin:ListTemporaryAccounts',
  'admin:ExplainPolicy',
  'admin:ConfigUpdate',
  'admin:ServerInfo',
  'admin:Prometheus',
  'admin:DataUsageInfo',
  'admin:ServerTrace',
  'admin:ConsoleLog',
  'admin:ReadAuditLog',
  'admin:PauseBackgroundTask',
  'admin:ServiceRestart',
  'admin:VerifyStore',
  'admin:SnapshotStore',
  'admin:ScrubStatus',
  'admin:ListQuarantine',
  'admin:SetReadOnly',
  'admin:KMSKeyStatus',
  'admin:KMSListKeys',
  'admin:KMSCreateKey',
  'admin:KMSImportKey',
  'admin:KMSRotateKey',
  'admin:ListSessions',
  'admin:RevokeSession',
  'admin:ExportIAM',
  'admin:ImportIAM',
  'admin:GetBucketQuota',
  'admin:SetBucketQuota',
  'admin:GetBucketTarget',
  'admin:SetBucketTarget',
  'admin:ListBatchJobs',
  'admin:StartBatchJob',
  'admin:DescribeBatchJob',
  'admin:CancelBatchJob',
  'admin:ListHeldEvents',
  'admin:RetryHeldEvents',
  'admin:DropHeldEvents',
  'admin:ListTier',
  'admin:SetTier',
] as const;

export type ConsoleAction = (typeof consoleActions)[number];

export interface Rights {
  /** Allowed for every user and resource. */
  readonly all: readonly ConsoleAction[];
  /** Allowed for the user's own access keys and secret key: all that no policy denies. */
  readonly own: readonly ConsoleAction[];
}

/** The JSON answers of the console's HTTP API, for the API and the web application. Times are ISO 8601. */

export interface SignInOptions {
  readonly providers: readonly {
    readonly id: string;
    readonly displayName: string;
    /** False while the provider does not answer. The reason may name an internal address: the log and the page of the status have it. */
    readonly ready: boolean;
  }[];
  /** Users can sign in by name and password of a directory. */
  readonly directory: boolean;
  /** The error of the last sign-in of this browser by a provider. */
  readonly notice?: string;
}

export interface SessionAnswer {
  /** The display name. */
  readonly name: string;
  readonly kind: 'root' | 'user' | 'service-account' | 'temporary';
  readonly signedInBy:
    | { readonly kind: 'keys' }
    | { readonly kind: 'directory' }
    | { readonly kind: 'provider'; readonly id: string; readonly displayName: string };
  readonly accessKey: string;
  readonly signedInAt: string;
  readonly expires: string;
  readonly policies: readonly PolicyInForce[];
  /** The session policy of the credentials, which restricts the policies. */
  readonly sessionPolicy?: readonly Statement[];
  readonly may: Rights;
  /** The endpoint for S3 clients, if it is configured. */
  readonly s3Url?: string;
}

export interface SignOutAnswer {
  /** The page of the provider that ends its session too; absent if it has none. */
  readonly location?: string | undefined;
}

export interface PolicyInForce {
  readonly name: string;
  /** Absent: no policy has this name, so it allows nothing. */
  readonly statements?: readonly Statement[];
}

export interface Statement {
  readonly sid?: string;
  readonly effect: 'Allow' | 'Deny';
  /** The principals of the statement, in the policy of a bucket. */
  readonly principals?: readonly string[];
  readonly actions: Patterns;
  readonly resources?: Patterns;
  readonly conditions: readonly {
    readonly operator: string;
    readonly key: string;
    readonly values: readonly string[];
  }[];
}

export interface Patterns {
  readonly kind: 'only' | 'all-but';
  readonly patterns: readonly string[];
}

export interface BucketList {
  /** The user may create a bucket of some name. */
  readonly mayCreate: boolean;
  readonly buckets: readonly BucketSummary[];
  /** The time of the usage count; absent before the first. */
  readonly counted?: string;
}

export interface BucketSummary {
  readonly name: string;
  readonly created: string;
  /** Absent: none. `unknown`: the user may not read it. */
  readonly encryption?: BucketEncryptionAnswer | { readonly scheme: 'unknown' };
  /** The `expects` of a change of the encryption; absent where the user may not read it. */
  readonly encryptionTag?: string;
  /** The part of the document that the console keeps and does not edit. */
  readonly encryptionKeeps?: { readonly bucketKey?: boolean; readonly blocked?: readonly string[] };
  /** The usage at the time of the count. Absent if the bucket is newer, or if the user may not list it. */
  readonly usage?: { readonly objects: number; readonly bytes: number };
}

export type BucketEncryptionAnswer =
  { readonly scheme: 'SSE-S3' } | { readonly scheme: 'SSE-KMS'; readonly keyName?: string };

export interface BucketAnswer extends BucketSummary {
  readonly location: string;
  /** The permissions of the user. For objects, they hold for every key below the given prefix. */
  readonly may: BucketPermissions;
}

export interface BucketPermissions {
  readonly list: boolean;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  readonly deleteBucket: boolean;
  readonly changeEncryption: boolean;
}

export interface ObjectPage {
  /** Prefixes, which end in `/`. */
  readonly folders: readonly string[];
  readonly objects: readonly ObjectRow[];
  /** The `after` of the next page. */
  readonly next?: string;
}

export interface ObjectRow {
  readonly key: string;
  readonly size: number;
  readonly lastModified: string;
  readonly etag: string;
  readonly encrypted: boolean;
}

export interface ObjectDetails extends ObjectRow {
  /** The version that is described: `null` in a bucket that never had versions. */
  readonly versionId: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly contentDisposition?: string;
  readonly contentLanguage?: string;
  readonly cacheControl?: string;
  readonly expires?: string;
  readonly storageClass?: string;
  /** Text, also where the headers of S3 have encoded words. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly encryption?:
    { readonly scheme: 'SSE-S3' | 'SSE-C' } | { readonly scheme: 'SSE-KMS'; readonly keyName: string };
  readonly checksum?: { readonly algorithm: string; readonly value: string };
  readonly parts?: number;
}

/** The result of one call that deletes objects below a prefix. */
export interface PrefixDeletion {
  readonly deleted: number;
  /** The first refusals, each with its message. */
  readonly refused: readonly { readonly key: string; readonly message: string }[];
  /** The `after` of the next call; absent when all objects were tried. */
  readonly next?: string;
}

export interface ErrorAnswer {
  /** A stable code: one of S3, or one of the console. */
  readonly code: string;
  readonly message: string;
  /** The field of the form that caused the error. */
  readonly field?: string;
}

/** The state of the service. Times are ISO 8601, sizes are bytes. */
export interface StatusAnswer {
  readonly version: string;
  readonly deploymentId: string;
  readonly region: string;
  readonly dataFolder: string;
  readonly buckets: number;
  readonly servers: readonly {
    readonly endpoint: string;
    readonly version: string;
    readonly startedAt: string;
    /** The server that answered. */
    readonly here: boolean;
  }[];
  /** Absent if the store does not report it. */
  readonly space?: {
    readonly free: number;
    readonly total: number;
    /** Absent where the file system makes inodes as it needs them. */
    readonly inodes?: { readonly free: number; readonly total: number } | undefined;
  };
  readonly keyService:
    | { readonly kind: 'none' }
    | { readonly kind: 'online' | 'offline'; readonly defaultKey: string; readonly endpoints: readonly string[] };
  readonly providers: readonly { readonly name: string; readonly displayName: string; readonly reason?: string }[];
  readonly directory: boolean;
}
