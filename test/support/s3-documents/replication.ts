import * as fc from 'fast-check';
import {
  replicaStorageClasses,
  type ReplicationConfiguration,
  type ReplicationFilter,
  type ReplicationRule,
  targetArn,
  writeReplication,
} from '../../../protocol/s3/bucket-replication.ts';
import { defined, filterTags, idText, keyText, maybe } from './texts.ts';

/** The targets that the rules may name. */
export const replicationTargets: readonly string[] = [
  targetArn('6f1b2f0a-2b1d-4c8e-9d57-1b8f4f3c2a10', 'photos'),
  targetArn('6f1b2f0a-2b1d-4c8e-9d57-1b8f4f3c2a11', 'backup'),
];

const filter = defined<ReplicationFilter>({ prefix: maybe(keyText), tags: maybe(filterTags) });

function rule(role: string | undefined): fc.Arbitrary<ReplicationRule> {
  return defined<Omit<ReplicationRule, 'target'>>({
    id: idText,
    enabled: fc.boolean(),
    priority: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(2 ** 31 - 1)),
    filter,
    // The older form of MinIO names the target by the role.
    destination: role === undefined ? fc.constantFrom(...replicationTargets) : fc.constant('arn:aws:s3:::photos'),
    storageClass: maybe(fc.constantFrom(...replicaStorageClasses)),
    deleteMarkers: fc.boolean(),
    deletes: fc.boolean(),
    replicaModifications: fc.boolean(),
    existingObjects: fc.boolean(),
  }).map((written) => ({
    ...written,
    target: role ?? written.destination,
    deleteMarkers: written.deleteMarkers && written.filter.tags === undefined,
  }));
}

/** Every replication that the server accepts: all fields in all legal combinations. */
export const replications: fc.Arbitrary<ReplicationConfiguration> = fc
  .constantFrom(undefined, undefined, ...replicationTargets)
  .chain((role) =>
    defined<ReplicationConfiguration>({
      role: role === undefined ? maybe(fc.constant('arn:aws:iam::1:role/replication')) : fc.constant(role),
      rules: fc.uniqueArray(rule(role), {
        minLength: 1,
        maxLength: 4,
        comparator: (one, other) => one.id === other.id || one.priority === other.priority,
      }),
    }),
  );

/** The document, as GetBucketReplication answers it. */
export const replicationDocuments: fc.Arbitrary<string> = replications.map(writeReplication);
