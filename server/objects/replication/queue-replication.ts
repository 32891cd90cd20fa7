import { type ReplicationConfiguration, targetIdOf } from '../../../protocol/s3/bucket-replication.ts';
import type { Batch, Entry } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { namedPart, namelessPart, outboxKeys } from '../events/outbox.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import { compareInstants, type Instant } from '../contract/instant.ts';
import { changesOf } from '../records/change-times.ts';
import type { ChangeTimes, ReplicationState, Retention, VersionAtTarget } from '../contract/object-layer.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import { decodeRecord, encodeRecord } from '../records/record-format.ts';
import { matches, type ReplicatedChange, targetsOf } from './replication-targets.ts';
import type { PlannedQueues } from '../context/event-hub.ts';
import { NULL_VERSION } from '../versions/find-version.ts';
import type { Place } from '../versions/place.ts';

/** A change in the queue of a remote target. It names a version: the delivery reads what the version is then. */
export interface QueuedReplication {
  /** `version` sends the version with its body, or the delete marker; `attributes` its metadata, tags and lock. */
  readonly kind: 'version' | 'attributes' | 'removal';
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly bucket: string;
  readonly key: string;
  /** 32 hexadecimal digits, or `null`. */
  readonly versionId: string;
  /**
   * When a delete marker, a version whose attributes changed, or a removed null version was made, in milliseconds since 1970. Entries of older
   * servers have the first alone.
   */
  readonly modified?: number;
  /** Plaintext bytes that the delivery sends. */
  readonly size: number;
  /** The legal hold after a change of attributes: where the version is removed before the delivery, the target must still release it. */
  readonly legalHold?: boolean;
  /** When the legal hold changed last: the release is no newer than that. */
  readonly legalHoldChanged?: Instant;
  /** The retention after a change of attributes, for the same reason. Absent where the version has none. */
  readonly retention?: Pick<Retention, 'mode'> & { readonly until: number };
  /** When the retention changed last. Absent where it never changed, and in entries of older servers. */
  readonly retentionChanged?: Instant;
  /** For a removal: the version was under GOVERNANCE, which the caller has bypassed. */
  readonly bypassedGovernance?: true;
  /** The id of the resync that queued it. */
  readonly resync?: string;
}

/** The queues of remote targets have this type, so that no notification target has the same name. */
const queueType = ':replication';

export function replicationQueue(targetId: string): string {
  return `${targetId}${queueType}`;
}

/** Returns the id of the remote target of a queue; undefined for the queue of a notification target. */
export function targetOfQueue(queue: string): string | undefined {
  return queue.endsWith(queueType) ? queue.slice(0, -queueType.length) : undefined;
}

export function decodeReplication({ value }: Entry): QueuedReplication {
  return decodeRecord(value, 'a queued replication') as QueuedReplication;
}

interface Replicated {
  readonly bucket: string;
  readonly key: string;
  readonly stored: BucketRecord;
  readonly change: ReplicatedChange;
  /** The version after the change; before it for a removal. */
  readonly record: ObjectRecord;
  /** When its attributes changed, where the record cannot say that: one of format 3 has no times of locks. */
  readonly times?: ChangeTimes;
  /** For a removal: the caller has bypassed GOVERNANCE. */
  readonly bypassedGovernance?: boolean;
}

type Context = Pick<ObjectContext, 'clock' | 'random'>;

/**
 * Returns the replication state of a version that a client changed, and the records that queue the change, one for each remote target that
 * a rule names for it. A version that finds a queue full has failed: a resync sends it.
 */
export function queueReplication(
  context: Context,
  events: PlannedQueues,
  replicated: Replicated,
): { readonly state: ReplicationState | undefined; readonly put: NonNullable<Batch['put']> } {
  const { stored, key, change, record } = replicated;
  const before = record.replication;
  const configuration = stored.replication ?? { rules: [] };
  const isReplica = before?.status === 'REPLICA';
  const named = targetsOf(configuration, { key, tags: record.tags, change, isReplica });
  const targets = change === 'removal' ? [...new Set([...named, ...holdersOf(configuration, replicated)])] : named;
  const changed = change === 'attributes' && stored.replication !== undefined ? context.clock() : before?.changed;
  // A version that no rule has sent is not COMPLETED by a change.
  if (targets.length === 0)
    return { state: before && { ...before, ...(changed !== undefined && { changed }) }, put: [] };
  const full = targets.filter((id) => events.isFull(replicationQueue(id)));
  for (const id of full) events.countDropped(replicationQueue(id));
  const status = before?.status === 'REPLICA' ? 'REPLICA' : full.length > 0 ? 'FAILED' : 'PENDING';
  const waiting = [...new Set([...(before?.waiting ?? []), ...targets])];
  const known = targetsBefore(before, targets);
  return {
    state: {
      status,
      waiting,
      ...(changed !== undefined && { changed }),
      ...(known && { targets: asked(known, targets) }),
    },
    put: targets.filter((id) => !full.includes(id)).map((id) => queued(context, id, replicated)),
  };
}

/**
 * Returns the targets that have a version and get its removal though no rule matches its tags any more: a target keeps what it got, and would
 * answer reads of it. The record of a replica does not name the target that sent it, which keeps it in this case.
 */
function holdersOf(
  { rules }: ReplicationConfiguration,
  { key, record: { tags, replication } }: Pick<Replicated, 'key' | 'record'>,
): readonly string[] {
  const ofKey = rules.filter(({ enabled, filter }) => enabled && key.startsWith(filter.prefix ?? ''));
  // A rule that matches the version decides alone, and one without removals keeps what the target has.
  const decided = new Set(
    ofKey.filter((rule) => !rule.deletes || matches(rule, { key, tags })).map(({ target }) => target),
  );
  const others = ofKey.filter(({ target }) => !decided.has(target)).map(({ target }) => targetIdOf(target));
  const ids = [...new Set(others)].filter((id) => id !== undefined);
  const known = targetsBefore(replication, ids) ?? {};
  return ids.filter((id) => replication?.waiting?.includes(id) === true || known[id]?.has === 'whole');
}

/**
 * Returns what the targets of a version have. A record of a former release that is COMPLETED does not say which ones: each counts as one that got the
 * version, so that what was removed there does not come back. A resync sends what is missing.
 */
function targetsBefore(before: ReplicationState | undefined, ids: readonly string[]): ReplicationState['targets'] {
  if (before?.targets !== undefined || before?.status !== 'COMPLETED') return before?.targets;
  return Object.fromEntries(ids.map((id): [string, VersionAtTarget] => [id, { has: 'whole' }]));
}

/** Forgets why a target refused a version that is sent to it again. */
export function asked(known: NonNullable<ReplicationState['targets']>, ids: readonly string[]): typeof known {
  const entries = Object.entries(known).flatMap(([id, there]): [string, VersionAtTarget][] => {
    if (!ids.includes(id)) return [[id, there]];
    return there.has === undefined ? [] : [[id, { has: there.has }]];
  });
  return Object.fromEntries(entries);
}

/** A record with its replication state, and the records that queue it. */
export interface ReplicatedRecord {
  readonly record: ObjectRecord;
  readonly queued: NonNullable<Batch['put']>;
}

/** Queues a version that a client made. What is not kept in versions is not replicated. */
export function replicateNew(
  context: Context,
  events: PlannedQueues,
  { bucket, key, stored, history }: Pick<Place, 'bucket' | 'key' | 'stored' | 'history'>,
  record: ObjectRecord,
): ReplicatedRecord {
  if (stored.record.replication === undefined || history !== 'versions') return { record, queued: [] };
  const change = record.deleteMarker === true ? 'marker' : 'version';
  const { state, put } = queueReplication(context, events, { bucket, key, stored: stored.record, change, record });
  return { record: state === undefined ? record : { ...record, replication: state }, queued: put };
}

/** Queues a change of the tags or the lock of a version. A target that has not got the version gets it whole. */
export function replicateAttributes(
  context: Context,
  events: PlannedQueues,
  version: Pick<Replicated, 'bucket' | 'key' | 'stored' | 'record' | 'times'>,
): ReplicatedRecord {
  const { state, put } = queueReplication(context, events, { ...version, change: 'attributes' });
  return { record: state === undefined ? version.record : { ...version.record, replication: state }, queued: put };
}

/** Returns the state of a version that another server made. */
export function replicaState(changed: Date | undefined): ReplicationState {
  return { status: 'REPLICA', ...(changed !== undefined && { changed: changed.getTime() }) };
}

/** Returns the record that queues a version for one target. */
export function queued(
  { clock, random }: Pick<ObjectContext, 'clock' | 'random'>,
  targetId: string,
  { bucket, key, change, record, times, bypassedGovernance = false }: Omit<Replicated, 'stored'>,
  resync?: string,
): NonNullable<Batch['put']>[number] {
  const entry: QueuedReplication = {
    kind: change === 'marker' ? 'version' : change,
    time: clock(),
    bucket,
    key,
    versionId: record.versionId ?? 'null',
    ...(hasTime(change, record) && { modified: record.modified }),
    size: change === 'version' ? record.size : 0,
    ...(change === 'attributes' && queuedLock(record, times ?? changesOf(record))),
    ...(bypassedGovernance && { bypassedGovernance }),
    ...(resync !== undefined && { resync }),
  };
  const unique = change === 'removal' ? namedPart(entry, removalName(entry), random) : namelessPart(entry, random);
  return { key: outboxKeys.event(replicationQueue(targetId), entry, unique), value: encodeRecord(entry) };
}

/** Returns the name of the removal of a version in a queue. Null versions of different times are different versions. */
export function removalName({ versionId, modified }: Pick<QueuedReplication, 'versionId' | 'modified'>): string {
  return versionId === NULL_VERSION ? `${versionId} ${modified}` : versionId;
}

function hasTime(change: ReplicatedChange, { versionId }: Pick<ObjectRecord, 'versionId'>): boolean {
  switch (change) {
    case 'version':
      return false;
    case 'removal':
      // The target may have another null version.
      return versionId === undefined;
    case 'marker':
    case 'attributes':
      return true;
    default:
      return change satisfies never;
  }
}

function queuedLock(
  { lock = {}, modified }: Pick<ObjectRecord, 'lock' | 'modified'>,
  times: ChangeTimes,
): Pick<QueuedReplication, 'legalHold' | 'legalHoldChanged' | 'retention' | 'retentionChanged'> {
  const { mode, until, legalHold } = lock;
  const { legalHold: legalHoldChanged = modified, retention: retentionChanged = modified } = times;
  return {
    ...(legalHold !== undefined && { legalHold, legalHoldChanged }),
    ...(mode !== undefined && until !== undefined && { retention: { mode, until } }),
    ...(compareInstants(retentionChanged, modified) > 0 && { retentionChanged }),
  };
}
