/** A bucket of another server, to which a bucket of this one is replicated. */
export interface RemoteTarget {
  readonly arn: string;
  readonly sourceBucket: string;
  /** `HOST` or `HOST:PORT`. */
  readonly endpoint: string;
  readonly secure: boolean;
  readonly targetBucket: string;
  /** `off` names the bucket in the host; `auto` does so for AWS. */
  readonly path: 'auto' | 'on' | 'off';
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
  /** Bytes each second; 0 is no limit. */
  readonly bandwidthLimit: number;
  readonly healthCheckMs: number;
  readonly storageClass?: string;
  readonly disableProxy: boolean;
  /** Answers to writes wait until the target has the version. */
  readonly sync?: boolean;
  /** `s3`: a server without the extensions of MinIO, such as AWS. Absent: a Coffer or MinIO, which keeps the ids of versions. */
  readonly kind?: 's3';
  /** The deployment id of the other site, for a target that the replication of sites made. */
  readonly site?: string;
  /** The last resync. `canceled` is when an administrator ended it, in milliseconds since 1970. */
  readonly resync?: { readonly id: string; readonly before: number; readonly canceled?: number };
}

/** The fields of a target that an administrator gives. */
export type RemoteTargetFields = Omit<RemoteTarget, 'arn' | 'kind' | 'site' | 'resync'>;

/** A field of a target that an update changes. `place` is the endpoint with its bucket and its credentials. */
export type RemoteTargetChange = 'place' | 'bandwidthLimit' | 'healthCheckMs' | 'path' | 'disableProxy' | 'sync';

export interface RemoteTargetHealth {
  readonly online: boolean;
  readonly lastOnline?: number;
  readonly latencyMs?: number;
  readonly maxLatencyMs?: number;
  /** Milliseconds, of all outages together. */
  readonly downtimeMs: number;
  readonly outages: number;
}

/** A remote target with what the server knows of it. */
export interface ShownRemoteTarget {
  readonly target: Omit<RemoteTarget, 'secretKey' | 'sessionToken'>;
  readonly health: RemoteTargetHealth | undefined;
}
