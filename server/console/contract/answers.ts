/**
 * Admin actions that the console's pages need. The session says which of them are allowed, so that nobody is shown a page that would
 * refuse them; the API asks again at each call.
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
] as const;

export type ConsoleAction = (typeof consoleActions)[number];

export interface Rights {
  /** For whomever it is about. */
  readonly all: readonly ConsoleAction[];
  /** For the person's own access keys and secret key: everybody may, unless a policy denies it. */
  readonly own: readonly ConsoleAction[];
}

/** What the console's HTTP API answers with, as JSON: types that the API and the web application share. Times are ISO 8601. */

export interface SignInOptions {
  readonly providers: readonly {
    readonly id: string;
    readonly displayName: string;
    readonly ready: boolean;
    /** Why people cannot sign in by this provider now. */
    readonly reason?: string;
  }[];
  /** Whether people sign in by name and password at a directory. */
  readonly directory: boolean;
  /** Why the last sign-in of this browser failed, where it came back from a provider. */
  readonly notice?: string;
}

export interface SessionAnswer {
  /** What a person recognises. */
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
  /** Narrows the policies, where the credentials carry one. */
  readonly sessionPolicy?: readonly Statement[];
  readonly may: Rights;
  /** Address for S3 clients, where it is set. */
  readonly s3Url?: string;
}

export interface PolicyInForce {
  readonly name: string;
  /** Absent: no policy has this name, so it allows nothing. */
  readonly statements?: readonly Statement[];
}

export interface Statement {
  readonly sid?: string;
  readonly effect: 'Allow' | 'Deny';
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
  readonly buckets: readonly BucketSummary[];
  /** When what the buckets hold was counted; absent before that. */
  readonly counted?: string;
}

export interface BucketSummary {
  readonly name: string;
  readonly created: string;
  /** Absent: none. `unknown`: the person may not see it. */
  readonly encryption?: BucketEncryptionAnswer | { readonly scheme: 'unknown' };
  /** What it held when that was counted. Absent: it was made since, or the person may not list it. */
  readonly usage?: { readonly objects: number; readonly bytes: number };
}

export type BucketEncryptionAnswer =
  { readonly scheme: 'SSE-S3' } | { readonly scheme: 'SSE-KMS'; readonly keyName?: string };

export interface BucketAnswer extends BucketSummary {
  readonly location: string;
  /** What the person's policies allow here; `true` for objects means for those of any name below the prefix asked for. */
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
  /** Prefixes, each ending in `/`. */
  readonly folders: readonly string[];
  readonly objects: readonly ObjectRow[];
  /** Pass as `after` for the next page. */
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
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly contentDisposition?: string;
  readonly contentLanguage?: string;
  readonly cacheControl?: string;
  readonly expires?: string;
  readonly storageClass?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly encryption?:
    { readonly scheme: 'SSE-S3' | 'SSE-C' } | { readonly scheme: 'SSE-KMS'; readonly keyName: string };
  readonly checksum?: { readonly algorithm: string; readonly value: string };
  readonly parts?: number;
}

/** One round of deleting everything below a prefix. */
export interface PrefixDeletion {
  readonly deleted: number;
  /** At most some; each with the message of its refusal. */
  readonly refused: readonly { readonly key: string; readonly message: string }[];
  /** Set when there is more: pass it as `after`. */
  readonly next?: string;
}

export interface ErrorAnswer {
  /** Stable: an S3 error code, or one of the console's own. */
  readonly code: string;
  /** For a person. */
  readonly message: string;
  /** The field of the form that it is about, where it is about one. */
  readonly field?: string;
}

/** The service as administrators see it. Times are ISO 8601, sizes bytes. */
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
    /** The one that answered. */
    readonly here: boolean;
  }[];
  /** Absent where it cannot be told. */
  readonly space?: { readonly free: number; readonly total: number };
  readonly keyService:
    | { readonly kind: 'none' }
    | { readonly kind: 'online' | 'offline'; readonly defaultKey: string; readonly endpoints: readonly string[] };
  readonly providers: readonly { readonly name: string; readonly displayName: string; readonly reason?: string }[];
  readonly directory: boolean;
}
