import type { ByCaller } from '../events/event-caller.ts';
import type { ObjectHeaders, ObjectLock, ObjectTags } from './objects.ts';

export interface ReplicaAttributes extends ByCaller {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string;
  readonly headers: ObjectHeaders;
  readonly tags: ObjectTags;
  readonly lock: ObjectLock | undefined;
  /** The time of the change on the other server. */
  readonly changed: Date | undefined;
  readonly may: ReplicaRights;
}

/** The changes that the sender of a replica may make to a version that exists. */
export interface ReplicaRights {
  readonly tags: boolean;
  readonly retention: boolean;
  /** GOVERNANCE may end earlier. */
  readonly bypassGovernance: boolean;
  readonly legalHold: boolean;
}

/** The result of the delivery of a version. */
export interface ReplicationOutcome {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string;
  readonly target: string;
  readonly status: 'COMPLETED' | 'FAILED';
  /** The last change of the version that the delivery has sent. A later one is queued, and keeps the version waiting. */
  readonly changed: number | undefined;
}

export interface ResyncVersion {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string;
  readonly target: string;
  /** The id of the resync. */
  readonly resync: string;
}
