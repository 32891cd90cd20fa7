import { counted } from '../../../platform/text/message-text.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { randomBytes } from 'node:crypto';
import { isEmptyStore } from '../../store/blob-store.ts';
import { compareRecords } from '../../maintenance/migrate/copied-records.ts';
import {
  beginCopy,
  finishCopy,
  readCopyState,
  copyStores,
  type CopyProgress,
} from '../../maintenance/migrate/copy-stores.ts';
import type { Issue } from '../../maintenance/verify/issue.ts';
import { allObjectRecords } from '../../maintenance/verify/object-records.ts';
import { decodeObject, isTiered } from '../../objects/records/object-record.ts';
import { verifyStores } from '../../maintenance/verify/verify-stores.ts';
import { prefixOf } from '../../store/keys.ts';
import { isReadOnly } from '../../store/commits.ts';
import { isStoreError } from '../../store/store-error.ts';
import { openNamedStores, type OpenedStores } from '../open-stores.ts';
import { type Io, Report } from '../report.ts';
import { compareOpened, conclude, reported } from './verify.ts';
import { compareCounts } from '../../maintenance/verify/compare-counts.ts';
import { isUnreadable } from '../../objects/records/damage.ts';

export interface CopyArguments {
  readonly json?: boolean;
  readonly sourceStopped?: boolean;
  readonly concurrency?: number;
}

/** Returns 0 if the copy is complete and verified, and 1 if there are issues; then the target stays marked as unfinished. */
export async function copyCommand(source: string, target: string, options: CopyArguments, io: Io): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  const from = await openNamedStores(source, io.env, {}, { reads: true, readOnlyWillDo: true });
  try {
    const to = await openNamedStores(target, io.env, {}, { mayBeNew: true, outside: from.places.dataFolders });
    try {
      return await copyOpened(from, to, options, io, report);
    } catch (error) {
      // The source is only read.
      if (!isStoreError(error, 'full')) throw error;
      throw new ProgramError(
        'failed',
        `${to.description}: ${error.message}. Make room there, and run the same command again: it goes on where it was`,
        { cause: error },
      );
    } finally {
      report.wipe();
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Copies one store to another, and verifies the copy. Returns and throws as `copyCommand` does. */
export async function copyOpened(
  from: OpenedStores,
  to: OpenedStores,
  options: CopyArguments,
  io: Pick<Io, 'signal'>,
  report: Report,
): Promise<number> {
  const deploymentId = await from.deploymentId();
  if (deploymentId === undefined) {
    throw new ProgramError(
      'failed',
      `the records at ${from.description} say no deployment: start a server of this version on them once`,
    );
  }
  await refuseChangingSource(from, options);
  const before = await refuseMismatch(from, report);
  await refuseOtherData(to, deploymentId);
  await beginCopy(to.records, deploymentId, randomBytes);
  const { lost, uncounted } = await compareWithCounts(from, io.signal, report);
  const total = await totalOf(from);
  const wrong = await tell(
    copyStores({
      from,
      to,
      deploymentId,
      signal: io.signal,
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      onProgress: (progress) => report.progress({ what: 'copied', ...progress, total }),
    }),
    report,
  );
  let differences = await compare(from, to, report);
  const { records, blobs } = to;
  const verification = verifyStores({
    records,
    blobs,
    now: Date.now(),
    bodies: true,
    graceMs: 0,
    signal: io.signal,
    onProgress: ({ objects, bytes }) => report.progress({ what: 'verified', objects, bytes, total }),
  });
  const { summary, losses, unread } = await reported(verification, report);
  // A verification may take hours. Where nothing counts the changes of the source, all records are compared once more.
  if (differences === 0 && (before === undefined || !isSameText(before, await countsOf(from)))) {
    differences = await compare(from, to, report);
  }
  const found = conclude(report, to.description, summary, losses, unread) !== 0 || wrong > 0 || lost > 0;
  if (differences > 0) {
    throw new ProgramError('failed', `${counted(differences, 'record differs', 'records differ')}: ${changed}`);
  }
  // Objects that were damaged before are damaged in the copy too. That does not prevent a move.
  await to.marker.write(deploymentId);
  await finishCopy(to.records, deploymentId, randomBytes);
  report.note(ending({ found, lost, uncounted }));
  return found ? 1 : 0;
}

function ending({ found, lost, uncounted }: Compared & { readonly found: boolean }): string {
  if (lost > 0) {
    return (
      'Records of the source are lost, and the copy does not have them: its own counts are those of what was copied, so that nothing tells it later. ' +
      'Keep the source, whose bodies are still needed, until its records are restored from a backup.'
    );
  }
  if (found) return 'The copy is as complete as its source, which has the same findings.';
  if (uncounted !== undefined) {
    return (
      `The copy has whatever the records of the source name. Whether records are missing there cannot be told, since ${uncounted}. ` +
      'Start the server on it; the source is unchanged.'
    );
  }
  return 'The copy is complete. Start the server on it; the source is unchanged.';
}

interface Compared {
  /** The count of groups of which records are lost. */
  readonly lost: number;
  /** The reason why it cannot be told whether records are lost. */
  readonly uncounted: string | undefined;
}

/** Compares the records of the source with their counts: those of the target count what was copied, and tell nothing about it. */
async function compareWithCounts({ records }: OpenedStores, signal: AbortSignal, report: Report): Promise<Compared> {
  const comparison = compareCounts(records, signal);
  for (let lost = 0; ; lost += 1) {
    const { done, value } = await comparison.next();
    if (done === true) return { lost, uncounted: value };
    report.issue(value);
  }
}

const changed =
  'the source was changed while it was copied. Stop its servers or make it read-only, empty the target, and copy again';

/** Refuses a source whose parts do not belong together. Returns its counts, where it has some. */
async function refuseMismatch(from: OpenedStores, report: Report): Promise<unknown> {
  let found = 0;
  for await (const issue of compareOpened(from)) {
    found += 1;
    report.issue(issue);
  }
  if (found > 0) throw new ProgramError('failed', 'nothing was copied: records and bodies do not belong together');
  return countsOf(from);
}

/** The counts change with every change of the records. */
async function countsOf({ records }: OpenedStores): Promise<unknown> {
  const counts = await records.counts?.();
  return counts?.map(({ group, ...count }) => [group.toString('hex'), count]);
}

function isSameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function compare(from: OpenedStores, to: OpenedStores, report: Report): Promise<number> {
  let differences = 0;
  for await (const difference of compareRecords(from.records, to.records)) {
    differences += 1;
    report.line(difference, { type: 'difference', message: difference });
  }
  return differences;
}

async function tell(copying: AsyncGenerator<Issue, CopyProgress>, report: Report): Promise<number> {
  let count = 0;
  for await (const issue of copying) {
    count += 1;
    report.issue(issue);
  }
  return count;
}

async function refuseChangingSource(from: OpenedStores, { sourceStopped }: CopyArguments): Promise<void> {
  if (from.locked || sourceStopped === true || (await isReadOnly(from.records))) return;
  throw new ProgramError(
    'failed',
    `servers may change ${from.description} while it is copied: make it read-only (coffer-store read-only on …), or stop them all and say --source-stopped`,
  );
}

/** Refuses a target with data of another deployment. */
async function refuseOtherData(to: OpenedStores, deploymentId: string): Promise<void> {
  const marked = await to.marker.read();
  if (marked !== undefined && marked !== deploymentId) {
    throw new ProgramError('failed', `${to.description} holds blobs of the deployment ${marked}: name an empty place`);
  }
  const state = await readCopyState(to.records);
  if (state?.deploymentId === deploymentId) return;
  if (state !== undefined) {
    throw new ProgramError(
      'failed',
      `${to.description} holds half a copy of the deployment ${state.deploymentId}: name an empty place, or empty this one`,
    );
  }
  const live = prefixOf('live');
  for await (const item of to.records.scan({ start: Buffer.of(0), end: Buffer.alloc(1_901, 0xff) })) {
    if (item.kind !== 'entry' || item.key.subarray(0, live.length).equals(live)) continue;
    throw new ProgramError('failed', `${to.description} holds records already: name an empty place`);
  }
  if (!(await isEmptyStore(to.blobs))) {
    throw new ProgramError('failed', `${to.description} holds blobs already: name an empty place`);
  }
}

/** Counts the objects to copy, to estimate the remaining time. */
async function totalOf({ records }: OpenedStores): Promise<{ readonly objects: number; readonly bytes: number }> {
  let [objects, bytes] = [0, 0];
  for await (const { bucket, key, object } of allObjectRecords(records, { inline: false })) {
    objects += 1;
    try {
      const record = object && decodeObject(object.value, bucket, key);
      if (record !== undefined && record.body.kind !== 'inline' && !isTiered(record)) bytes += record.size;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }
  return { objects, bytes };
}
