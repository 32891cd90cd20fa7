/** Answers of the console's HTTP API on who can reach a bucket, and which buckets a user can reach. */

/** The extent of a right: `all` of the bucket, or `some` of it: some keys alone, or only under conditions such as an address. */
export type Extent = 'all' | 'some';

export const reachRights = ['list', 'read', 'write', 'delete', 'administer'] as const;
export type ReachRight = (typeof reachRights)[number];

/** Rights that are not there are not allowed. */
export type Reach = Readonly<Partial<Record<ReachRight, Extent>>>;

export type Reaching =
  /** Everyone, without credentials. */
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'ldap-user' | 'ldap-group'; readonly name: string }
  | { readonly kind: 'claim'; readonly provider: string; readonly claim: string; readonly value: string }
  /** External users whose provider names this policy when they sign in. */
  | { readonly kind: 'policy'; readonly name: string };

export interface ReachList {
  readonly rows: readonly { readonly who: Reaching; readonly rights: Reach }[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
  /** There are more attachments and policies than the first page shows. */
  readonly cut?: true;
}

export interface ReachedBuckets {
  readonly buckets: readonly { readonly bucket: string; readonly rights: Reach }[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
}

export interface LifecyclePreview {
  /** The objects that the rules remove with their next run, and those that they remove later if nothing changes. */
  readonly due: PreviewCounts;
  readonly later: PreviewCounts;
  /** Some of the objects, those that go first before the others. */
  readonly examples: readonly {
    readonly key: string;
    readonly size: number;
    readonly what: PreviewKind;
    readonly due: boolean;
  }[];
  /** The versions that were read. */
  readonly read: number;
  /** False where the bucket has more versions than one preview reads. */
  readonly complete: boolean;
  /** A rule has a filter by tags, which the preview does not read: objects with other tags are counted too. */
  readonly ignoresTags: boolean;
}

export type PreviewKind = 'object' | 'version' | 'marker' | 'upload';

export interface PreviewCounts {
  readonly objects: number;
  /** Noncurrent versions. */
  readonly versions: number;
  readonly markers: number;
  readonly uploads: number;
  /** Bytes of objects and versions. */
  readonly bytes: number;
}
