import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../../../platform/async/backoff.ts';
import { forEachLimit, KeyedMutex } from '../../../../platform/async/concurrency.ts';
import type { Target } from '../../../config/target.ts';
import { isTransient, retryBackoff } from '../../../s3/retry.ts';
import { describeError } from '../../../terminal/output.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Change, ChangeQueue } from '../changes/change-queue.ts';
import { watchTarget } from '../changes/watch-target.ts';
import { entryAt } from '../entries/entry-at.ts';
import { anyGlob } from '../entries/name-patterns.ts';
import { fileSource, objectSource } from './find-sources.ts';
import { bucketIn, isExcludedBy, prepareTarget, removeEntry, type Mirroring } from './mirror-folder.ts';
import { withSourceTime } from './newest.ts';

/**
 * Compares everything, and then copies and removes what changes, until the command is interrupted. It watches before it compares, so that no
 * change is lost. Where the events break off, it watches and compares again.
 */
export async function watchAndMirror(
  mirroring: Mirroring,
  source: Target,
  target: Target,
  compare: () => Promise<void>,
): Promise<never> {
  const { context } = mirroring;
  for (let failures = 1; ; failures += 1) {
    const watched = await watchTarget(context, source).catch((error: unknown) => waitAfter(mirroring, error, failures));
    if (watched === undefined) continue;
    try {
      for (;;) {
        await compare();
        failures = 1;
        await follow(mirroring, watched.queue, source, target);
      }
    } catch (error) {
      await waitAfter(mirroring, error, failures);
    } finally {
      watched.close();
    }
  }
}

/** @throws the error, if another attempt would fail too */
async function waitAfter(mirroring: Mirroring, error: unknown, failures: number): Promise<undefined> {
  const { context } = mirroring;
  context.signal.throwIfAborted();
  if (!isTransient(error)) throw error;
  mirroring.restarts += 1;
  context.output.warn('events', `${describeError(error, 'The events broke off').cause}: everything is compared again`);
  await sleep(backoffMs(failures, retryBackoff), undefined, { signal: context.signal });
  return undefined;
}

/** Returns when changes were lost. */
async function follow(mirroring: Mirroring, queue: ChangeQueue, source: Target, target: Target): Promise<void> {
  const { context, transfer } = mirroring;
  const names = new KeyedMutex();
  await forEachLimit(queue.changes(context.signal), transfer.workers, async (change) => {
    // The second change of a name waits until the first one was copied.
    const release = await names.acquire(change.name);
    try {
      await mirrorChange(mirroring, source, target, change);
    } catch (error) {
      transfer.failures.report(error, `Unable to mirror \`${printable(change.name)}\``);
    } finally {
      release();
    }
  });
}

async function mirrorChange(mirroring: Mirroring, source: Target, target: Target, change: Change): Promise<void> {
  const { context, options, transfer } = mirroring;
  const places = placesOf(mirroring, source, target, change.name);
  if (places === undefined) return;
  const { from, to, name } = places;
  const first = await entryAt(context, from, name);
  const event = { eventTime: new Date(change.time).toISOString() };
  if (first === undefined) {
    const second = await entryAt(context, to, name);
    if (second !== undefined)
      await removeEntry(mirroring, to, second, { ...event, eventType: 's3:ObjectRemoved:Delete' });
    return;
  }
  if (isExcludedBy(mirroring, name, first) || !mirroring.isOfAge(first.modified)) return;
  const found = from.kind === 'local' ? fileSource(first, name) : objectSource(from, first, name);
  const copied = options.activeActive === true ? await withSourceTime(context, found, to) : found;
  if (copied === undefined) return;
  await prepareTarget(mirroring, from, to, 'made');
  await transfer.copy(copied, { target: to, folder: true }, { ...event, eventType: 's3:ObjectCreated:Put' });
}

/** The places of a changed name. Where a whole server is watched, the name begins with the bucket. Undefined for an excluded bucket. */
function placesOf(
  { options }: Mirroring,
  source: Target,
  target: Target,
  name: string,
): { readonly from: Target; readonly to: Target; readonly name: string } | undefined {
  if (source.kind === 'local' || source.bucket !== '') return { from: source, to: target, name };
  const slash = name.indexOf('/');
  const bucket = name.slice(0, slash);
  if (slash < 0 || slash + 1 === name.length || anyGlob(options.excludeBucket)(bucket)) return undefined;
  return { from: { ...source, bucket }, to: bucketIn(target, bucket), name: name.slice(slash + 1) };
}
