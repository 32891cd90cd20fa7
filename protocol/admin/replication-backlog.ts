type ReplicationStatus = 'PENDING' | 'COMPLETED' | 'FAILED' | 'REPLICA';

/** A version, or the removal of one, that a target has not got. */
export interface BacklogEntry {
  readonly key: string;
  /** 32 hexadecimal digits, or `null`. */
  readonly versionId: string;
  readonly deleteMarker: boolean;
  /** The time of the version, or that of its removal, in milliseconds since 1970. */
  readonly modified: number;
  readonly removal: boolean;
  readonly status: ReplicationStatus;
  /** The status at each target by its ARN. */
  readonly targets: Readonly<Record<string, ReplicationStatus>>;
  /** Why the target refused the version, or the last failure of the queue. */
  readonly error?: string;
}

export interface AskedBacklog {
  readonly bucket: string;
  readonly prefix: string;
  /** The ARN of the only target; empty for all. */
  readonly arn: string;
  /** `failed`: what failed. `waiting`: all that waits. `all`: what is replicated too. */
  readonly show: 'failed' | 'waiting' | 'all';
}
