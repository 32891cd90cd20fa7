import type { ByCaller } from './event-caller.ts';
import type { ChangeTimes, ObjectHeaders, ObjectLock, ObjectTags } from './objects.ts';

export interface ReplicaAttributes extends ByCaller {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string;
  readonly headers: ObjectHeaders;
  readonly tags: ObjectTags;
  readonly lock: ObjectLock | undefined;
  /** The time of the version on the other server, to which its metadata belongs. */
  readonly modified: Date;
  /** The times at which attributes changed later, as far as the other server says them. */
  readonly changes?: ChangeTimes | undefined;
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
  /** `FORGOTTEN`: the target was removed, and no version waits for it. */
  readonly status: 'COMPLETED' | 'FAILED' | 'FORGOTTEN';
  /** Why the delivery failed. */
  readonly refused?: string;
  /** The target got the version once, and has removed it. */
  readonly isRemoved?: true;
  /** The change leaves the queue though the target has not got it. `time` is that of the change, in milliseconds since 1970. */
  readonly givenUp?: { readonly time: number; readonly isImpossible: boolean };
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
