import type { AskedBacklog, BacklogEntry } from '../../protocol/admin/replication-backlog.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ListedVersion, ObjectLayer } from '../objects/contract/object-layer.ts';
import { decodeReplication, replicationQueue } from '../objects/replication/queue-replication.ts';
import { mapLimit } from '../../platform/async/concurrency.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { decodeHeld } from '../outbox/held-records.ts';
import { readState } from '../outbox/queue-state.ts';
import { within } from '../store/keys.ts';
import { type Entry, type RecordStore, scanPages } from '../store/record-store.ts';
import type { RemoteTargets, StoredTarget } from './remote-targets.ts';

interface BacklogOptions {
  readonly targets: Pick<RemoteTargets, 'ofBucket'>;
  readonly records: RecordStore;
  readonly objects: Pick<ObjectLayer, 'getBucketReplication' | 'listObjectVersions'>;
}

const pageSize = 500;
/** Records of refusals that are read at a time. */
const readsAtOnce = 16;

/**
 * Lists what the targets of a bucket have not got, in batches: its versions in their order, then removals of versions that wait in a
 * queue. It reads every version, since no index names those that wait.
 *
 * @throws S3Error ReplicationConfigurationNotFoundError, NoSuchBucket, and InvalidRequest for an ARN of no target
 */
export async function replicationBacklog(
  options: BacklogOptions,
  asked: AskedBacklog,
): Promise<(signal: AbortSignal) => AsyncGenerator<readonly BacklogEntry[]>> {
  const { targets, objects } = options;
  const { bucket, arn } = asked;
  if ((await objects.getBucketReplication(bucket)) === undefined) {
    throw new S3Error('ReplicationConfigurationNotFoundError');
  }
  const stored = (await targets.ofBucket(bucket)).filter(({ target }) => arn === '' || target.arn === arn);
  if (stored.length === 0 && arn !== '') {
    throw new S3Error('InvalidRequest', `The bucket has no remote target ${arn.slice(0, 256)}.`);
  }
  return async function* list(signal) {
    const errors = await failures(options.records, stored);
    yield* waitingVersions(options, asked, stored, errors, signal);
    yield* waitingRemovals(options.records, asked, stored, errors, signal);
  };
}

/** Reads why each queue waits whose target is away, by the id of the target. */
async function failures(records: RecordStore, stored: readonly StoredTarget[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { id } of stored) {
    const error = (await readState(records, replicationQueue(id)))?.failure?.error;
    if (error !== undefined) found.set(id, error);
  }
  return found;
}

async function* waitingVersions(
  { objects }: BacklogOptions,
  { bucket, prefix, show }: AskedBacklog,
  stored: readonly StoredTarget[],
  errors: ReadonlyMap<string, string>,
  signal: AbortSignal,
): AsyncGenerator<readonly BacklogEntry[]> {
  let from: { readonly key: string; readonly versionId?: string } | undefined;
  do {
    if (signal.aborted) return;
    const { versions, next } = await objects.listObjectVersions({
      bucket,
      prefix,
      delimiter: '',
      keyMarker: from?.key ?? '',
      versionIdMarker: from?.versionId,
      limit: pageSize,
      replication: true,
    });
    const entries = versions.flatMap((version) => versionEntry(version, stored, errors, show) ?? []);
    if (entries.length > 0) yield entries;
    from = next;
  } while (from !== undefined);
}

function versionEntry(
  { key, versionId, deleteMarker, modified, replication }: ListedVersion,
  stored: readonly StoredTarget[],
  errors: ReadonlyMap<string, string>,
  show: AskedBacklog['show'],
): BacklogEntry | undefined {
  if (replication === undefined) return undefined;
  const { status, waiting = [], targets: known = {} } = replication;
  // A replica whose tags or lock were changed here waits too.
  const ofTargets = stored.filter(({ id }) => waiting.includes(id) || known[id]?.refused !== undefined);
  const refused = ofTargets.filter(({ id }) => known[id]?.refused !== undefined);
  if (show === 'failed' && status !== 'FAILED' && refused.length === 0) return undefined;
  if (ofTargets.length === 0 && show !== 'all') return undefined;
  // A version that found the queue full has no refusal.
  const isDropped = status === 'FAILED' && refused.length === 0;
  const stateAt = (one: StoredTarget) => {
    if (!ofTargets.includes(one)) return known[one.id]?.has === 'whole' ? 'COMPLETED' : undefined;
    return isDropped || refused.includes(one) ? 'FAILED' : 'PENDING';
  };
  const states = (show === 'all' ? stored : ofTargets).map((one) => [one.target.arn, stateAt(one)] as const);
  const targets = Object.fromEntries(
    states.filter((one): one is [string, 'COMPLETED' | 'FAILED' | 'PENDING'] => one[1] !== undefined),
  );
  const own = refused.map(({ id }) => known[id]?.refused).find((text) => text !== undefined);
  const error = own === undefined ? errorOf(ofTargets, errors) : { error: own };
  return { key, versionId, deleteMarker, modified, removal: false, status, targets, ...error };
}

function errorOf(stored: readonly StoredTarget[], errors: ReadonlyMap<string, string>): { readonly error?: string } {
  const error = stored.map(({ id }) => errors.get(id)).find((text) => text !== undefined);
  return error === undefined ? {} : { error };
}

/** A version that was removed has no record any more: the one of its refusal says whether its removal has failed. */
async function* waitingRemovals(
  records: RecordStore,
  { prefix, show }: AskedBacklog,
  stored: readonly StoredTarget[],
  errors: ReadonlyMap<string, string>,
  signal: AbortSignal,
): AsyncGenerator<readonly BacklogEntry[]> {
  for (const { id, target } of stored) {
    const shown = { arn: target.arn, error: errors.get(id) };
    for await (const page of scanPages(records, within('outbox', replicationQueue(id)))) {
      if (signal.aborted) return;
      const removals = page.filter((item) => item.kind === 'entry').filter((item) => isRemoval(item, prefix));
      const entries = await mapLimit(removals, readsAtOnce, (item) => removalEntry(records, item, shown));
      const asked = show === 'failed' ? entries.filter(({ status }) => status === 'FAILED') : entries;
      if (asked.length > 0) yield asked;
    }
  }
}

function isRemoval(item: Entry, prefix: string): boolean {
  const { kind, key } = decodeReplication(item);
  return kind === 'removal' && key.startsWith(prefix);
}

/** `error` is that of a target that is away. */
async function removalEntry(
  records: Pick<RecordStore, 'get'>,
  item: Entry,
  { arn, error }: { readonly arn: string; readonly error: string | undefined },
): Promise<BacklogEntry> {
  const { key, versionId, time } = decodeReplication(item);
  const held = await records.get(outboxKeys.held(item.key));
  const own = held === undefined ? error : decodeHeld(held).error;
  const status = held === undefined ? 'PENDING' : 'FAILED';
  const version = { key, versionId, deleteMarker: false, modified: time, removal: true };
  return { ...version, status, targets: { [arn]: status }, ...(own !== undefined && { error: own }) };
}
