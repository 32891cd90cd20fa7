import type { ReplicationConfiguration } from '../../../protocol/s3/bucket-replication.ts';

/** The id of the remote target of `replicatedRule`. */
export const replicatedTarget = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';

/** Replicates everything to a target that never answers. */
export const replicatedRule: ReplicationConfiguration['rules'][number] = {
  id: 'r',
  enabled: true,
  priority: 1,
  filter: {},
  destination: `arn:minio:replication::${replicatedTarget}:there`,
  target: `arn:minio:replication::${replicatedTarget}:there`,
  deleteMarkers: true,
  deletes: true,
  replicaModifications: true,
  existingObjects: true,
};
