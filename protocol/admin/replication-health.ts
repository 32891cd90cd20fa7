/** A target of the replication of a bucket, with what waits for it. Times are milliseconds since 1970. */
export interface ReplicationHealth {
  readonly bucket: string;
  /** `HOST/BUCKET` */
  readonly target: string;
  /** Versions that wait. */
  readonly waiting: number;
  /** The time of the oldest version that waits. */
  readonly oldest?: number;
  /** Why nothing gets through. */
  readonly failure?: { readonly since: number; readonly error: string };
  /** The changes that the target refuses, while it may take others. */
  readonly held?: { readonly events: number; readonly since: number; readonly error: string };
}
