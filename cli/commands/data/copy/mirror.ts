import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { forEachLimit } from '../../../../platform/concurrency.ts';
import { matchesText, textMatcher } from '../../../../protocol/policy/glob.ts';
import { CliError } from '../../../config/cli-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { createBucket, headBucket, listBuckets } from '../../../s3/buckets.ts';
import { deleteObject } from '../../../s3/objects.ts';
import { isNotFound } from '../../../s3/s3-response-error.ts';
import { formatSize, printable } from '../../../terminal/format.ts';
import type { Context } from '../../context.ts';
import { asFolder, entriesOf } from '../entries/entries.ts';
import { Failures, readable, type Entry } from '../entries/entry.ts';
import { joinEntries, type Pair } from '../entries/join-entries.ts';
import { statOf } from '../entries/local-entries.ts';
import { ageTest } from '../entries/times.ts';
import type { CopyDestination } from './copy-destination.ts';
import { keptAttributes } from './copy-one.ts';
import { fileSource, objectSource, type FoundSource } from './find-sources.ts';
import { Transfer } from './transfer.ts';
import type { TransferOptions } from './transfer-options.ts';

interface MirrorOptions extends TransferOptions {
  readonly overwrite?: boolean;
  readonly remove?: boolean;
  readonly exclude?: readonly string[];
  readonly excludeBucket?: readonly string[];
  readonly excludeStorageclass?: readonly string[];
  readonly region?: string;
  readonly summary?: boolean;
}

/**
 * Makes the target hold what the source holds. Both are listed in the order of their names and compared as streams, so that memory does not
 * grow with their number. A file that is in the target with another size, or an older time, is replaced only with `overwrite`.
 */
export async function mirror(context: Context, args: readonly string[], options: MirrorOptions): Promise<void> {
  const aliases = await context.aliases();
  const [source, target] = args.map((argument) => asFolder(parseTarget(argument, aliases)));
  if (source === undefined || target === undefined) throw new CliError('BadArgument', 'Name a source and a target');
  const transfer = new Transfer(context, options);
  const mirroring = { context, options, transfer, removed: 0, unread: 0, isOfAge: ageTest(options, new Date()) };
  try {
    if (source.kind === 'remote' && source.bucket === '') await mirrorBuckets(mirroring, source, target);
    else await mirrorFolder(mirroring, source, target);
  } finally {
    transfer.stop();
  }
  if (options.summary === true) printSummary(mirroring);
  transfer.finish({ always: true });
  if (mirroring.unread > 0) throw new CliError('Reported', `${mirroring.unread} folders or files could not be read`);
}

interface Mirroring {
  readonly context: Context;
  readonly options: MirrorOptions;
  readonly transfer: Transfer;
  readonly isOfAge: (modified: Date) => boolean;
  removed: number;
  /** Folders and files that could not be read. */
  unread: number;
}

/** Each bucket of a server becomes a bucket, or a folder of this machine. */
async function mirrorBuckets(
  mirroring: Mirroring,
  source: Extract<Target, { kind: 'remote' }>,
  target: Target,
): Promise<void> {
  const isExcluded = anyGlob(mirroring.options.excludeBucket);
  for (const { name } of await listBuckets(await mirroring.context.client(source.alias))) {
    if (isExcluded(name)) continue;
    await mirrorFolder(mirroring, { ...source, bucket: name }, bucketIn(target, name));
  }
}

function bucketIn(target: Target, name: string): Target {
  if (target.kind === 'local') return { kind: 'local', path: `${target.path}/${name}` };
  return target.bucket === '' ? { ...target, bucket: name } : { ...target, key: `${target.key}${name}/` };
}

async function mirrorFolder(mirroring: Mirroring, source: Target, target: Target): Promise<void> {
  const { context, transfer } = mirroring;
  if (source.kind === 'local' && !(await statOf(source.path)).isDirectory()) {
    throw new CliError('BadArgument', `\`${source.path}\` is a file: \`coffer cp\` copies it`);
  }
  refuseOverlap(source, target);
  const exists = await prepareTarget(mirroring, target);
  const destination: CopyDestination = { target, folder: true };
  const unread = new Failures(context);
  const chosen = readable(context, entriesOf(context, source, { recursive: true }), unread);
  const there = exists ? readable(context, entriesOf(context, target, { recursive: true }), unread) : none();
  await forEachLimit(joinEntries(files(chosen), files(there)), transfer.workers, async (pair) => {
    if (pair.first !== undefined) await copyPair(mirroring, source, pair, pair.first, destination);
    // A folder of the source that cannot be read may hold what seems extraneous after it.
    else if (pair.second !== undefined && unread.count === 0) await removeExtraneous(mirroring, target, pair.second);
  });
  mirroring.unread += unread.count;
}

/** A target within its source would be copied into itself. */
function refuseOverlap(source: Target, target: Target): void {
  const inside =
    source.kind === 'local'
      ? target.kind === 'local' && `${resolve(target.path)}/`.startsWith(`${resolve(source.path)}/`)
      : target.kind === 'remote' &&
        target.alias.url === source.alias.url &&
        target.bucket === source.bucket &&
        target.key.startsWith(source.key) &&
        target.key !== source.key;
  if (inside) throw new CliError('BadArgument', 'The target is within the source');
}

async function copyPair(
  mirroring: Mirroring,
  source: Target,
  { name, second }: Pair,
  first: Entry,
  destination: CopyDestination,
): Promise<void> {
  const { context, options, transfer } = mirroring;
  if (isExcludedBy(options, name, first) || !mirroring.isOfAge(first.modified)) return;
  const found = source.kind === 'local' ? fileSource(first, name) : objectSource(source, first, name);
  if (second !== undefined) {
    const change = await changeOf(mirroring, found, first, second);
    if (change === undefined) return;
    if (options.overwrite !== true) {
      const text = `\`${printable(second.display)}\` ${change}: use --overwrite to replace it`;
      // Other clients do not compare times, so that this is no failure.
      if (change === 'is older than its source') context.output.warn(text);
      else transfer.failures.report(new CliError('Unsafe', text), 'Unable to mirror');
      return;
    }
  }
  await transfer.copy(found, destination);
}

type Change = 'has another size' | 'is older than its source';

/** Compares size and time. A copy is newer than its source, except where it got the time of the file from which the object was made. */
async function changeOf(
  { context, options, transfer }: Mirroring,
  found: FoundSource,
  source: Entry,
  target: Entry,
): Promise<Change | undefined> {
  if (source.size !== target.size) return 'has another size';
  // The times of objects have seconds.
  if (source.modified.getTime() <= target.modified.getTime() + 1_000) return undefined;
  const kept =
    options.preserve === true && target.bucket === '' ? await keptAttributes(context, found, transfer.encryption) : {};
  const isKept = kept.mtime !== undefined && Math.abs(kept.mtime * 1_000 - target.modified.getTime()) < 1_000;
  return isKept ? undefined : 'is older than its source';
}

async function removeExtraneous(mirroring: Mirroring, target: Target, entry: Entry): Promise<void> {
  const { context, options, transfer } = mirroring;
  if (options.remove !== true || isExcludedBy(options, entry.name, entry)) return;
  try {
    if (options.dryRun !== true) {
      if (target.kind === 'local') await rm(entry.key);
      else await deleteObject(await context.client(target.alias), { bucket: entry.bucket, key: entry.key });
    }
    mirroring.removed += 1;
    await context.output.line(
      `${options.dryRun === true ? 'Would remove' : 'Removed'} \`${printable(entry.display)}\``,
      {
        source: '',
        target: entry.display,
        size: 0,
        ...(options.dryRun === true && { dryRun: true }),
      },
    );
  } catch (error) {
    transfer.failures.report(error, `Unable to remove \`${printable(entry.display)}\``);
  }
}

function isExcludedBy(options: MirrorOptions, name: string, { storageClass }: Entry): boolean {
  if (storageClass !== undefined && options.excludeStorageclass?.includes(storageClass) === true) return true;
  return anyGlob(options.exclude)(name);
}

/** A pattern is compared with the whole name below the source, and with its last part. */
function anyGlob(patterns: readonly string[] = []): (name: string) => boolean {
  const matchers = patterns.map((pattern) => textMatcher(pattern));
  return (name) => {
    const last = name.slice(name.lastIndexOf('/') + 1);
    return matchers.some((matcher) => matchesText(matcher, name) || matchesText(matcher, last));
  };
}

/** Makes the bucket of the target. Returns whether the target was there before, so that it can be listed. */
async function prepareTarget({ context, options }: Mirroring, target: Target): Promise<boolean> {
  if (target.kind === 'local') {
    return statOf(target.path).then(
      () => true,
      () => false,
    );
  }
  if (target.bucket === '') throw new CliError('BadArgument', `Invalid target \`${target.text}\`: name a bucket`);
  const client = await context.client(target.alias);
  try {
    await headBucket(client, target.bucket);
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (options.dryRun !== true) await createBucket(client, target.bucket, { region: options.region });
    return false;
  }
}

/** Leaves out the objects that show an empty folder. */
async function* files(entries: AsyncIterable<Entry>): AsyncGenerator<Entry, void, undefined> {
  for await (const entry of entries) if (entry.name !== '' && !entry.name.endsWith('/')) yield entry;
}

async function* none(): AsyncGenerator<Entry, void, undefined> {
  // The target is new.
}

function printSummary({ context, transfer, removed }: Mirroring): void {
  const { copied, transferred, failures } = transfer;
  const parts = [`${copied} copied`, `${removed} removed`, `${failures.count} failed`];
  context.output.message(`Summary: ${parts.join(', ')}, ${formatSize(transferred)}`, {
    copied,
    removed,
    failed: failures.count,
    transferred,
  });
}
