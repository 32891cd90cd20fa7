import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { commitOnce } from '../../store/commits.ts';
import type { Batch, Entry } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { uniquePart } from '../events/outbox.ts';
import { dueTransition, type VersionFacts } from '../lifecycle/evaluate.ts';
import type { ExpiringVersion } from '../contract/object-layer.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import { encodeRecord, recordKeys } from '../records/record-format.ts';
import { transitionObject } from './transition-object.ts';
import { type QueuedVersion, queuedVersion } from './queued-version.ts';
import { shownVersionId } from '../versions/find-version.ts';

interface NewObject {
  readonly bucket: string;
  readonly key: string;
  readonly lifecycle: BucketRecord['lifecycle'];
  readonly record: ObjectRecord;
}

/**
 * Returns the record that queues a new object for a rule that moves objects at once (`Days` 0): the walk of the bucket comes only once a
 * day. Few buckets have such a rule.
 */
export function queueTransition(
  context: Pick<ObjectContext, 'clock' | 'random'>,
  { bucket, key, lifecycle = [], record }: NewObject,
): NonNullable<Batch['put']> {
  const rules = rulesAtOnce(lifecycle);
  const { size, modified, tags = {} } = record;
  const tier = tierAtOnce(rules, { key, size, modified, tags });
  if (tier === undefined) return [];
  const version: QueuedVersion = { bucket, key, versionId: shownVersionId(record), tier };
  const unique = uniquePart({ time: context.clock(), bucket }, context.random);
  return [{ key: recordKeys.dueTransition(unique), value: encodeRecord(version) }];
}

function rulesAtOnce(rules: readonly LifecycleRule[]): readonly LifecycleRule[] {
  return rules.filter(({ transition }) => transition !== undefined && 'days' in transition && transition.days === 0);
}

/** Rules without days are due from the time of the version on. */
function tierAtOnce(rules: readonly LifecycleRule[], version: Omit<VersionFacts, 'deleteMarker'>): string | undefined {
  return dueTransition({ rules, now: version.modified, dayMs: 1 }, { ...version, deleteMarker: false });
}

/** Moves a queued version to the tier that the rules of its bucket name now. The caller repeats it while the tier is away. */
export async function transitionQueued(context: ObjectContext, queued: Entry): Promise<boolean> {
  const { bucket, key, versionId } = queuedVersion(queued);
  const entry = await context.records.get(recordKeys.bucket(bucket));
  const { lifecycle = [] } = entry === undefined ? {} : context.buckets.decode(entry, bucket).record;
  const rules = rulesAtOnce(lifecycle);
  const tierFor = ({ size, modified, tags, place }: ExpiringVersion) =>
    place === 'current' ? tierAtOnce(rules, { key, size, modified, tags }) : undefined;
  let moved = false;
  for (const tier of new Set(rules.flatMap(({ transition }) => transition?.tier ?? []))) {
    moved ||= await transitionObject(context, {
      bucket,
      key,
      versionId,
      tier,
      isDue: (version) => tierFor(version) === tier,
    });
  }
  await commitOnce(context.records, { delete: [queued.key] }, context.random);
  return moved;
}
