import { lstat, rm, stat } from 'node:fs/promises';
import { counted } from '../../../../platform/text/message-text.ts';
import { forEachLimit } from '../../../../platform/async/concurrency.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Target } from '../../../config/target.ts';
import { createBucket, headBucket } from '../../../s3/buckets.ts';
import {
  getBucketPolicy,
  getObjectLock,
  getVersioning,
  putBucketPolicy,
  putObjectLock,
} from '../../../s3/bucket-settings.ts';
import { listedObject } from '../../../s3/list-objects.ts';
import { deleteObject } from '../../../s3/objects.ts';
import { isNotFound } from '../../../s3/error-of-status.ts';
import { isTransient } from '../../../s3/retry.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { entryPages } from '../entries/entries.ts';
import { Failures, readablePages, type Entry } from '../entries/entry.ts';
import { entryAt } from '../entries/entry-at.ts';
import { isTemporaryName } from '../entries/temporary-files.ts';
import { joinEntries, type Pair } from '../entries/join-entries.ts';
import { statOf } from '../entries/local-entries.ts';
import { refuseOverlap } from './refuse-overlap.ts';
import { type CopyDestination, pathUnder } from './copy-destination.ts';
import { removeEmptyFolders } from './move-source.ts';
import { changeOf, type Change } from './change-of.ts';
import type { Excludes } from './mirror-excludes.ts';
import { fileSource, objectSource, type FoundSource } from './find-sources.ts';
import { withSourceTime } from './newest.ts';
import { readState, removeInState } from './source-state.ts';
import type { Transfer } from './transfer.ts';
import type { TransferOptions } from './transfer-options.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

export interface MirrorOptions extends TransferOptions {
  readonly overwrite?: boolean;
  readonly remove?: boolean;
  /** A number: more extraneous files or objects are not removed. */
  readonly maxDelete?: string;
  readonly exclude?: readonly string[];
  readonly excludeBucket?: readonly string[];
  readonly excludeStorageclass?: readonly string[];
  readonly region?: string;
  readonly summary?: boolean;
  /** `HOST:PORT`. */
  readonly monitoringAddress?: string;
  readonly watch?: boolean;
  /** The newer of two objects wins. Both sides mirror to the other one. */
  readonly activeActive?: boolean;
}

/** The fields of an event, where a comparison made the copy. Other clients print them empty. */
const noEvent = { eventTime: '', eventType: '' };

export interface Mirroring {
  readonly context: Context;
  readonly options: MirrorOptions;
  readonly transfer: Transfer;
  readonly isOfAge: (modified: Date) => boolean;
  readonly excludes: Excludes;
  readonly maxDelete: number | undefined;
  removed: number;
  /** How often the events of the source broke off. */
  restarts: number;
  /** Folders and files that could not be read. */
  unread: number;
  /** Buckets of the source that keep earlier versions. */
  readonly versioned: string[];
}

/** The target of one bucket, where all buckets of a server are mirrored. */
export function bucketIn(target: Target, name: string): Target {
  if (target.kind === 'local') return { kind: 'local', path: `${target.path}/${name}` };
  return target.bucket === '' ? { ...target, bucket: name } : { ...target, key: `${target.key}${name}/` };
}

/**
 * Copies what is below a folder. Both sides are listed in the order of their names and compared as streams, so that memory does not grow
 * with their number.
 */
export async function mirrorFolder(
  mirroring: Mirroring,
  source: Target,
  target: Target,
  newBucket: 'made' | 'refused',
): Promise<void> {
  const { context, options, transfer } = mirroring;
  if (source.kind === 'local' && !(await statOf(source.path)).isDirectory()) {
    throw new ProgramError('BadArgument', `\`${source.path}\` is a file: \`coffer cp\` copies it`);
  }
  await refuseOverlap(context, source, target, transfer.encryption);
  const exists = await prepareTarget(mirroring, source, target, newBucket);
  if (source.kind === 'remote') await noteVersions(mirroring, source);
  const destination: CopyDestination = { target, folder: true };
  const unread = new Failures(context);
  // Names of the source that are not followed, such as a folder that became a link.
  const leftOut: string[] = [];
  const isExcluded = (name: string): boolean => mirroring.excludes.has(name);
  const chosen = readablePages(context, entryPages(context, source, { recursive: true }), unread, {
    isExcluded,
    onSkipped: (name) => void leftOut.push(name),
  });
  const there = exists
    ? readablePages(context, entryPages(context, target, { recursive: true }), unread, {
        // An incomplete download is continued or replaced.
        isExcluded: (name) => isExcluded(name) || isTemporaryName(name.slice(name.lastIndexOf('/') + 1)),
      })
    : none();
  const removal = new Removal(mirroring, source, target);
  // Files in the place of a folder, or the other way round: what is extraneous goes first.
  const blocked: { readonly pair: Pair; readonly first: Entry }[] = [];
  const found = files(chosen, () => removal.sourceHasFiles());
  await forEachLimit(joinEntries(found, files(there)), transfer.workers, async (pair) => {
    const { first } = pair;
    if (first !== undefined) {
      if (pair.second === undefined && (await isBlocked(target, pair.name))) blocked.push({ pair, first });
      else await copyPair(mirroring, source, pair, first, destination);
    }
    // A folder of the source that cannot be read may hold what seems extraneous after it.
    else if (pair.second !== undefined && options.remove === true && unread.count === 0) {
      if (leftOut.some((name) => pair.name === name || pair.name.startsWith(`${name}/`))) return;
      await removal.remove(pair.second);
    }
  });
  if (unread.count === 0) await removal.end();
  for (const { pair, first } of blocked) {
    if (target.kind === 'local' && options.dryRun !== true) await removeEmptyFolders(pathUnder(target.path, pair.name));
    await copyPair(mirroring, source, pair, first, destination);
  }
  mirroring.unread += unread.count;
}

/** Reports whether a folder of the target has the name of a file, or a file that of a folder above it. */
async function isBlocked(target: Target, name: string): Promise<boolean> {
  if (target.kind === 'remote') return false;
  try {
    return (await stat(pathUnder(target.path, name))).isDirectory();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR';
  }
}

/** Removes what the source of one folder or bucket does not have. */
class Removal {
  readonly #mirroring: Mirroring;
  readonly #source: Target;
  readonly #target: Target;
  #isSourceEmpty = true;
  /** With `--max-delete` they wait until all are known. */
  readonly #held: Entry[] = [];
  /** The entries that stay since the source is empty. */
  #kept = 0;

  constructor(mirroring: Mirroring, source: Target, target: Target) {
    this.#mirroring = mirroring;
    this.#source = source;
    this.#target = target;
  }

  sourceHasFiles(): void {
    this.#isSourceEmpty = false;
  }

  /** An empty source may be a disk that is not mounted: it empties no target, unless the user says how much may be removed. */
  async remove(entry: Entry): Promise<void> {
    if (isExcludedBy(this.#mirroring, entry.name, entry)) return;
    const { maxDelete } = this.#mirroring;
    // Both listings are read in the order of their names, so that the first page of the source is known.
    if (maxDelete === undefined && this.#isSourceEmpty) this.#kept += 1;
    else if (maxDelete === undefined) await removeExtraneous(this.#mirroring, this.#source, this.#target, entry);
    else if (this.#mirroring.removed + this.#held.length <= maxDelete) this.#held.push(entry);
  }

  /** Removes what waits, or reports why nothing is removed. */
  async end(): Promise<void> {
    const { maxDelete, removed, transfer } = this.#mirroring;
    if (this.#kept > 0) {
      const objects = counted(this.#kept, 'file or object', 'files or objects');
      const reason = `The source is empty, and --remove would remove all of the target (${objects}): --max-delete ${this.#kept} allows it`;
      transfer.failures.report(new ProgramError('Unsafe', reason), 'Unable to remove');
    }
    if (maxDelete === undefined) return;
    if (removed + this.#held.length > maxDelete) {
      const reason = `More than ${counted(maxDelete, 'file or object', 'files or objects')} would be removed, which --max-delete forbids: nothing more is removed`;
      transfer.failures.report(new ProgramError('Unsafe', reason), 'Unable to remove');
      return;
    }
    await forEachLimit(this.#held, transfer.workers, async (entry) => {
      await removeExtraneous(this.#mirroring, this.#source, this.#target, entry);
    });
  }
}

/** Notes a bucket with versions, which the command reports at the end. A caller without the permission to know gets no note. */
async function noteVersions(
  { context, versioned }: Mirroring,
  { alias, aliasName, bucket }: Extract<Target, { kind: 'remote' }>,
): Promise<void> {
  const versioning = await getVersioning(await context.client(alias), bucket).catch(() => undefined);
  if (versioning !== undefined && versioning.status !== '') versioned.push(`${aliasName}/${bucket}`);
}

async function copyPair(
  mirroring: Mirroring,
  source: Target,
  { name, second }: Pair,
  first: Entry,
  destination: CopyDestination,
): Promise<void> {
  const { context, options, transfer } = mirroring;
  if (isExcludedBy(mirroring, name, first) || !mirroring.isOfAge(first.modified)) return;
  const found = source.kind === 'local' ? fileSource(first, name) : objectSource(source, first, name);
  if (second !== undefined) {
    const change = await changeOfPair(mirroring, found, first, second);
    if (change === 'unknown') return;
    if (change === undefined) return transfer.endUpload(name, destination);
    if (options.overwrite !== true) {
      const text = `\`${printable(second.display)}\` ${change}: use --overwrite to replace it`;
      // Other clients do not compare times, so that this is not a failure.
      if (change === 'is older than its source' || change === 'may be older than its source')
        context.output.warn('older', text);
      else transfer.failures.report(new ProgramError('Unsafe', text), 'Unable to mirror');
      return;
    }
  }
  const copied = options.activeActive === true ? await withSourceTime(context, found, destination.target) : found;
  if (copied !== undefined) await transfer.copy(copied, destination, noEvent);
}

/** Compares a source with its copy. A failure, such as a file that is gone since it was listed, is reported, and the mirror goes on. */
async function changeOfPair(
  { context, options, transfer }: Mirroring,
  found: FoundSource,
  first: Entry,
  second: Entry,
): Promise<Change | undefined | 'unknown'> {
  const { encryption, failures } = transfer;
  try {
    return await changeOf(context, found, first, second, { preserve: options.preserve === true, encryption });
  } catch (error) {
    // A command that watches compares everything again when the server is back.
    if (options.watch === true && isTransient(error)) throw error;
    failures.report(error, `Unable to compare \`${printable(first.display)}\` with \`${printable(second.display)}\``);
    return 'unknown';
  }
}

/** Removes a file of the target that the source does not have. One that the source got since it was listed stays. */
async function removeExtraneous(mirroring: Mirroring, source: Target, target: Target, entry: Entry): Promise<void> {
  try {
    if ((await entryAt(mirroring.context, source, entry.name)) !== undefined) return;
  } catch (error) {
    const doing = `Unable to remove \`${printable(entry.display)}\`, since the source cannot be read`;
    mirroring.transfer.failures.report(error, doing);
    return;
  }
  await removeEntry(mirroring, target, entry);
}

/** Removes a file of the target that the source does not have. */
export async function removeEntry(
  mirroring: Mirroring,
  target: Target,
  entry: Entry,
  event: Readonly<Record<string, string>> = noEvent,
): Promise<void> {
  const { context, options, transfer } = mirroring;
  if (isExcludedBy(mirroring, entry.name, entry)) return;
  try {
    if (options.dryRun !== true) {
      if (target.kind === 'local') await removeFile(entry);
      else await removeObject(mirroring, target, entry);
    }
    mirroring.removed += 1;
    await context.output.line(
      `${options.dryRun === true ? 'Would remove' : 'Removed'} \`${printable(entry.display)}\``,
      {
        source: '',
        target: entry.display,
        size: 0,
        ...(options.dryRun === true && { dryRun: true }),
        ...event,
      },
    );
  } catch (error) {
    transfer.failures.report(error, `Unable to remove \`${printable(entry.display)}\``);
  }
}

/** Removes a file of the target that is still the one that was listed. */
async function removeFile({ key, size, modified }: Entry): Promise<void> {
  // A link was listed with the size and the time of what it leads to, which stays.
  if ((await lstat(key)).isSymbolicLink()) return rm(key);
  const state = await readState(key);
  const found = await lstat(key);
  if (found.size !== size || found.mtime.getTime() !== modified.getTime()) throw replaced();
  removeInState(key, state);
}

/**
 * Removes an object of the target that is still the one that was listed. Some servers ignore the condition of a deletion, and it does not tell
 * objects with the same bytes apart. The listing needs no other permission and no key of the client.
 */
async function removeObject({ context }: Mirroring, { alias }: RemoteTarget, entry: Entry): Promise<void> {
  const { bucket, key, etag, modified } = entry;
  const client = await context.client(alias);
  const now = await listedObject(client, bucket, key);
  if (now === undefined) return;
  if (now.etag !== etag || seconds(now.lastModified) !== seconds(modified)) throw replaced();
  await deleteObject(client, { bucket, key }, { ifMatch: etag });
}

/** A HEAD tells seconds, a listing milliseconds. */
function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}

function replaced(): Error {
  return new Error('it was replaced since it was listed');
}

export function isExcludedBy({ options, excludes }: Mirroring, name: string, { storageClass }: Entry): boolean {
  if (storageClass !== undefined && options.excludeStorageclass?.includes(storageClass) === true) return true;
  return excludes.has(name);
}

/** Makes the bucket of the target where it is one of a whole server. Returns whether the target was there before, so that it can be listed. */
export async function prepareTarget(
  mirroring: Mirroring,
  source: Target,
  target: Target,
  newBucket: 'made' | 'refused',
): Promise<boolean> {
  const { context, options } = mirroring;
  if (target.kind === 'local') {
    return statOf(target.path).then(
      () => true,
      () => false,
    );
  }
  if (target.bucket === '') throw new ProgramError('BadArgument', `Invalid target \`${target.text}\`: name a bucket`);
  const client = await context.client(target.alias);
  try {
    await headBucket(client, target.bucket);
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (newBucket === 'refused') {
      const name = `${target.aliasName}/${target.bucket}`;
      const cause = new ResponseError('NoSuchBucket', 'The specified bucket does not exist', { status: 404 });
      throw new ProgramError('NotFound', `Unable to mirror to \`${name}\`; \`coffer mb ${name}\` makes it`, { cause });
    }
    if (options.dryRun !== true) await makeBucket(mirroring, source, target);
    return false;
  }
}

type RemoteTarget = Extract<Target, { readonly kind: 'remote' }>;

/** Makes a bucket of the target. With `--preserve` it gets the object lock and the policy of its source. */
async function makeBucket(
  { context, options: { preserve, region }, transfer }: Mirroring,
  source: Target,
  { alias, aliasName, bucket }: RemoteTarget,
): Promise<void> {
  const client = await context.client(alias);
  if (preserve !== true || source.kind === 'local') return createBucket(client, bucket, { region });
  const from = await context.client(source.alias);
  const lock = await getObjectLock(from, source.bucket);
  await createBucket(client, bucket, { region, objectLock: lock !== undefined });
  try {
    if (lock?.defaultRetention !== undefined) await putObjectLock(client, bucket, lock);
    const policy = await getBucketPolicy(from, source.bucket);
    if (policy !== undefined) await putBucketPolicy(client, bucket, policy);
  } catch (error) {
    transfer.failures.report(error, `Unable to copy the object lock and the policy of \`${aliasName}/${bucket}\``);
  }
}

/** Leaves out the objects that show an empty folder. `onFiles` is called before each page with files. */
async function* files(
  pages: AsyncIterable<readonly Entry[]>,
  onFiles: () => void = () => {},
): AsyncGenerator<readonly Entry[], void, undefined> {
  for await (const page of pages) {
    const found = page.filter(({ name }) => name !== '' && !name.endsWith('/'));
    if (found.length > 0) onFiles();
    yield found;
  }
}

async function* none(): AsyncGenerator<readonly Entry[], void, undefined> {
  // The target is new.
}
