/** What the key service knows of a key. */
export interface KeyDescription {
  readonly algorithm?: string;
  readonly createdAt?: string;
  readonly createdBy?: string;
  /** The IDs of the versions, the oldest first. The last one encrypts. */
  readonly versions: readonly string[];
}

/** What needs a key. */
export interface KeyUsage {
  /** Objects, noncurrent versions among them. */
  readonly objects: number;
  /** Multipart uploads in progress. */
  readonly uploads: number;
  /** Names of buckets that have the key as default. A long list is cut. */
  readonly buckets: readonly string[];
  /** True where the key seals identities and settings. */
  readonly backend: boolean;
}
