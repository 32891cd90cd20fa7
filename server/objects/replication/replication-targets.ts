import {
  type ReplicationConfiguration,
  type ReplicationRule,
  targetIdOf,
} from '../../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ReplicationState, VersionAtTarget } from '../contract/object-layer.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import type { ObjectRecord } from '../records/object-record.ts';

/** The kind of a change to a version. `attributes`: its tags or its lock changed. */
export type ReplicatedChange = 'version' | 'marker' | 'attributes' | 'removal';

interface ChangedVersion {
  readonly key: string;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly change: ReplicatedChange;
  /** The version came from another server. */
  readonly isReplica: boolean;
}

/**
 * Returns the ids of the remote targets that get a change. Of the enabled rules of a target that match the object, the one with the highest
 * priority decides.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication-add-config.html
 */
export function targetsOf(configuration: ReplicationConfiguration, version: ChangedVersion): readonly string[] {
  return [...decidingRules(configuration, version)]
    .filter((rule) => replicates(rule, version))
    .map(({ target }) => targetIdOf(target))
    .filter((id) => id !== undefined);
}

/**
 * Refuses that a rule removes a version before the targets that replication rules name have it: only this server may have it. Throws
 * `OperationAborted`.
 */
export function checkReplicated(
  { replication: configuration }: Pick<BucketRecord, 'replication'>,
  { replication: state }: Pick<ObjectRecord, 'replication'>,
): void {
  const named = new Set(configuration?.rules.map(({ target }) => targetIdOf(target)));
  const waiting = [...named].filter((id) => id !== undefined && state !== undefined && lacks(state, id));
  if (waiting.length === 0) return;
  throw new S3Error(
    'OperationAborted',
    `The version waits for its replication to ${waiting.length === 1 ? 'a target' : `${waiting.length} targets`}: \`replicate backlog\` shows why.`,
  );
}

/** Reports whether a target is to get a version and has not: its change waits, or was given up though a resync can send it. */
function lacks({ status, waiting, targets }: ReplicationState, id: string): boolean {
  const { has, refused, isImpossible }: VersionAtTarget = targets?.[id] ?? {};
  if (waiting?.includes(id) === true) return has !== 'removed';
  return status !== 'REPLICA' && has === undefined && refused !== undefined && isImpossible !== true;
}

/** Returns the storage class that the copies of an object get at a target; undefined for that of the target itself. */
export function storageClassAt(
  configuration: ReplicationConfiguration | undefined,
  version: Pick<ChangedVersion, 'key' | 'tags'>,
  targetId: string,
): string | undefined {
  if (configuration === undefined) return undefined;
  return [...decidingRules(configuration, version)].find(({ target }) => targetIdOf(target) === targetId)?.storageClass;
}

function decidingRules(
  { rules }: ReplicationConfiguration,
  version: Pick<ChangedVersion, 'key' | 'tags'>,
): Iterable<ReplicationRule> {
  const deciding = new Map<string, ReplicationRule>();
  for (const rule of rules) {
    if (!rule.enabled || !matches(rule, version)) continue;
    const known = deciding.get(rule.target);
    if (known === undefined || known.priority < rule.priority) deciding.set(rule.target, rule);
  }
  return deciding.values();
}

export function matches(
  { filter }: ReplicationRule,
  { key, tags = {} }: Pick<ChangedVersion, 'key' | 'tags'>,
): boolean {
  if (filter.prefix !== undefined && !key.startsWith(filter.prefix)) return false;
  return Object.entries(filter.tags ?? {}).every(([name, value]) => Object.hasOwn(tags, name) && tags[name] === value);
}

/** A replica is not replicated again, so that two servers that replicate to each other do not repeat each other's changes. */
function replicates(rule: ReplicationRule, { change, isReplica }: ChangedVersion): boolean {
  switch (change) {
    case 'version':
      return !isReplica;
    case 'marker':
      return !isReplica && rule.deleteMarkers;
    case 'attributes':
      return !isReplica || rule.replicaModifications;
    case 'removal':
      return rule.deletes;
    default:
      return change satisfies never;
  }
}
