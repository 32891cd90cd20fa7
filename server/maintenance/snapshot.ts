import { constants, createReadStream, createWriteStream } from 'node:fs';
import {
  access,
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  opendir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
} from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UNFINISHED_RESTORE } from '../store/data-folder.ts';
import { besideOf, syncFile, syncFolder, writeDurably } from '../store/durable-file.ts';
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { recordedCheckpoint } from '../store/checkpoint.ts';
import { countRecords } from '../store/lmdb/counts.ts';
import { RECORD_FILE, RUN_MARK } from '../store/lmdb/environment.ts';
import { checkLocks } from '../store/data-folder.ts';
import { prepareLockFile } from '../store/lmdb/lock-file.ts';
import { checkRecordFile, openLmdbReadOnly } from '../store/lmdb/read-only.ts';
import { leaveMoment } from './moment-records.ts';
import { describeSnapshot, readSnapshotAbout, SNAPSHOT_FILE } from './snapshot-files.ts';
import { holdGarbageCollection } from '../objects/garbage-collection/garbage-collection.ts';
import type { BlobId, SegmentId } from '../store/blob-store.ts';
import { folderMarker, markerName } from '../store/blobs-marker.ts';
import { placeOf } from '../store/packed-id.ts';
import { tierOf } from '../store/tiered-id.ts';
import { openLmdbRecordStore } from '../store/lmdb/record-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { referredBlobs } from './verify/blob-references.ts';
import { MaintenanceError } from './maintenance-error.ts';
import { writeFolderAtomically } from './partial-folder.ts';
import { isPathWithin, nearestFolder } from './path-within.ts';

/** Error codes of file systems that have no links, or none to the target. */
const noLinkCodes = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Links a file that never changes under a second name, which takes no space; copies it where the file system cannot link. */
async function linkOrCopy(from: string, to: string, signal?: AbortSignal): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && noLinkCodes.has(String(error.code)))) throw error;
    await durableCopy(from, to, signal);
  }
}

/** Files from this size on are copied in chunks, so that a signal ends the copy of one that takes minutes. */
const LARGE = 64 * 1024 * 1024;
const CHUNK = 4 * 1024 * 1024;

/** Copies a file, by reflink where the file system can. The name is not durable yet. */
async function durableCopy(from: string, to: string, signal?: AbortSignal): Promise<void> {
  if ((await stat(from)).size < LARGE) {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } else if (!(await isCloned(from, to))) {
    const [source, target] = [
      createReadStream(from, { highWaterMark: CHUNK }),
      createWriteStream(to, { flags: 'wx', mode: 0o600, highWaterMark: CHUNK }),
    ];
    await pipeline(source, target, signal === undefined ? {} : { signal });
  }
  await chmod(to, 0o600);
  await syncFile(to);
}

/** Makes a reflink. Returns false where the file system cannot, and for every other reason, which a copy will show. */
async function isCloned(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}

interface SnapshotOptions {
  /** The records of this process, or of a folder that it has locked. */
  readonly records: RecordStore;
  /** The data folder that holds records and blobs. */
  readonly folder: string;
  /** A folder that does not exist yet. */
  readonly out: string;
  /** True if no server uses the stores: nothing is removed, and no hold is written. */
  readonly exclusive?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SnapshotSummary) => void;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

export interface SnapshotSummary {
  readonly blobs: number;
  /** Blobs that the records refer to and that are missing. `verify` names their objects. */
  readonly missing: number;
}

/**
 * Writes a data folder with the content of the stores at one moment: the records, and hard links to their blobs, which take no space on
 * the same file system. Blobs never change, and garbage collection removes none until all are linked. The folder gets its name only
 * when all of it is durable.
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<SnapshotSummary> {
  const { records, folder, out, clock = Date.now, random = randomBytes } = options;
  const backup = records.backup?.bind(records);
  if (backup === undefined) throw new MaintenanceError('unsupported', 'only records in a data folder have snapshots');
  if (await exists(out)) throw new MaintenanceError('exists', `${out} exists already: name a folder that does not`);
  for (const part of ['records', 'blobs']) {
    if (await isPathWithin(out, join(folder, part))) {
      throw new MaintenanceError('exists', `${out} is among the ${part} of the data folder: name a folder elsewhere`);
    }
  }
  const hold = options.exclusive === true ? undefined : await holdGarbageCollection(records, { clock, random });
  try {
    return await writeFolderAtomically(out, async (partial) => {
      const taken = new Date(clock()).toISOString();
      await mkdir(partial, { mode: 0o700 });
      await backup(join(partial, 'records'));
      const { checkpoint, counts } = await prepareRecords(join(partial, 'records'), taken, clock());
      const summary = await linkBlobs(options, partial);
      const { deploymentId } = await copySmallFiles(folder, partial);
      // The checkpoint of the store may be newer by now than its records were.
      if (checkpoint !== undefined) await folderMarker(join(partial, 'blobs')).writeCheckpoint(checkpoint);
      const about = { taken, deploymentId, ...summary, ...(await describeSnapshot(partial, counts)) };
      await writeDurably(join(partial, SNAPSHOT_FILE), `${JSON.stringify(about, undefined, 2)}\n`);
      await syncFolder(partial);
      return summary;
    });
  } finally {
    await hold?.release();
  }
}

/** Makes copied records those of a store that is restored from them, and counts them where their server did not. */
async function prepareRecords(folder: string, taken: string | undefined, now: number) {
  checkLocks(folder);
  prepareLockFile(folder);
  checkRecordFile(folder, { leaves: false });
  countRecords(folder);
  const records = openLmdbRecordStore({ folder });
  let found;
  try {
    await leaveMoment(records, { now, taken });
    found = { checkpoint: await recordedCheckpoint(records), counts: (await records.counts?.()) ?? [] };
  } finally {
    await records.close();
  }
  await rm(join(folder, 'lock.mdb'), { force: true });
  await syncFile(join(folder, RECORD_FILE));
  await syncFolder(folder);
  return found;
}

async function linkBlobs({ folder, signal, onProgress }: SnapshotOptions, partial: string): Promise<SnapshotSummary> {
  const target = join(partial, 'blobs');
  await mkdir(target, { mode: 0o700 });
  const made = new Set<string>();
  const linked = new Set<SegmentId>();
  let summary: SnapshotSummary = { blobs: 0, missing: 0 };
  /** Returns false where there is no such file. */
  const linkFile = async (file: string) => {
    if (!made.has(dirname(file))) {
      made.add(dirname(file));
      await mkdir(join(target, dirname(file)), { mode: 0o700 });
    }
    try {
      await linkOrCopy(join(folder, 'blobs', file), join(target, file), signal);
      return true;
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      return false;
    }
  };
  const linkBlob = async (blob: BlobId) => {
    const segment = placeOf(blob)?.segment;
    if (segment === undefined) return linkFile(fileOf(blob));
    // A copy of a store has packed bodies as files of their own.
    const found = linked.has(segment) || (await linkFile(join('segments', segment)));
    if (found) linked.add(segment);
    return found || linkFile(fileOf(blob));
  };
  const snapshot = openLmdbReadOnly(join(partial, 'records'));
  try {
    for await (const blob of referredBlobs(snapshot, signal)) {
      // A body in a tier stays there.
      if (tierOf(blob) !== undefined) continue;
      const { blobs, missing } = summary;
      const found = await linkBlob(blob);
      summary = found ? { blobs: blobs + 1, missing } : { blobs, missing: missing + 1 };
      onProgress?.(summary);
    }
  } finally {
    await snapshot.close();
  }
  for (const name of made) await syncFolder(join(target, name));
  await syncFolder(target);
  return summary;
}

/** The files engine uses the same layout. */
function fileOf(blob: BlobId): string {
  return join(blob.slice(-2), blob);
}

async function copySmallFiles(folder: string, partial: string): Promise<{ readonly deploymentId?: string }> {
  const format = await readFile(join(folder, 'format.json'), 'utf8');
  await writeDurably(join(partial, 'format.json'), format);
  try {
    const marker = await readFile(join(folder, 'blobs', markerName), 'utf8');
    await writeDurably(join(partial, 'blobs', markerName), marker);
  } catch (error) {
    // Folders of older servers have no such file.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const { deploymentId } = JSON.parse(format) as { deploymentId?: string };
  return deploymentId === undefined ? {} : { deploymentId };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Files that older versions left in a snapshot that they opened. A data folder does not need them. */
const leftOut = new Set(['lock', 'lock.mdb', RUN_MARK, SNAPSHOT_FILE]);

const FORMAT_FILE = 'format.json';

/**
 * Copies a snapshot to a new data folder. The snapshot does not change: files are copied, not linked. A folder that does not exist gets its name
 * only when all of it is durable. One that exists is filled in place, since it may be a mount point, and gets its format file last: a server
 * refuses it before. The caller should have verified the snapshot.
 */
export async function restoreSnapshot(snapshot: string, folder: string, signal?: AbortSignal): Promise<void> {
  const from = resolve(snapshot);
  const taken = (await readSnapshotAbout(from).catch(() => undefined))?.taken;
  const fill = async (target: string) => {
    for (const name of ['records', 'blobs']) await copyFolder(join(from, name), join(target, name), signal);
    await prepareRecords(join(target, 'records'), taken, Date.now());
  };
  const existing = await existingFolder(folder);
  if (existing === undefined) {
    await writeFolderAtomically(resolve(folder), async (partial) => {
      await mkdir(partial, { mode: 0o700 });
      await fill(partial);
      await durableCopy(join(from, FORMAT_FILE), join(partial, FORMAT_FILE));
      await syncFolder(partial);
    });
    return;
  }
  await removeUnfinished(existing);
  try {
    await writeDurably(join(existing, UNFINISHED_RESTORE), '');
    await fill(existing);
    await writeDurably(join(existing, FORMAT_FILE), await readFile(join(from, FORMAT_FILE), 'utf8'));
  } catch (error) {
    await removeUnfinished(existing).catch(() => undefined);
    throw error;
  }
  await rm(join(existing, UNFINISHED_RESTORE));
  await syncFolder(existing);
}

/** The files and folders that a restore leaves which did not end, in the order of their removal: the mark goes last. */
const leftByRestore = [FORMAT_FILE, besideOf(FORMAT_FILE), 'records', 'blobs', UNFINISHED_RESTORE];
/** The mark itself, when the restore ended while it was written. */
const markBegun = besideOf(UNFINISHED_RESTORE);

/** Removes what a restore that did not end left behind. */
async function removeUnfinished(folder: string): Promise<void> {
  await rm(join(folder, markBegun), { force: true });
  if (!(await readdir(folder)).includes(UNFINISHED_RESTORE)) return;
  for (const name of leftByRestore) await rm(join(folder, name), { recursive: true, force: true });
}

async function copyFolder(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for await (const entry of await opendir(from)) {
    signal?.throwIfAborted();
    if (leftOut.has(entry.name)) continue;
    if (entry.isDirectory()) await copyFolder(join(from, entry.name), join(to, entry.name), signal);
    else await durableCopy(join(from, entry.name), join(to, entry.name), signal);
  }
  await syncFolder(to);
}

/** Names that may be in a folder that is filled: what file systems make, and what a killed restore left behind. */
const mayBeThere = ['lost+found', markBegun];

/** Returns the folder that a path leads to, or undefined where there is none. Throws `MaintenanceError` where it holds anything. */
export async function existingFolder(path: string): Promise<string | undefined> {
  let names: string[];
  try {
    names = await readdir(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && !(await isLink(path))) return undefined;
    if (hasCode(error, 'ENOENT'))
      throw new MaintenanceError(
        'exists',
        `${path} is a link to a folder that does not exist: make that folder, or name another`,
      );
    if (hasCode(error, 'ENOTDIR'))
      throw new MaintenanceError('exists', `${path} is not a folder: name an empty folder`);
    throw error;
  }
  const unfinished = names.includes(UNFINISHED_RESTORE) ? leftByRestore : [];
  if (names.some((name) => ![...mayBeThere, ...unfinished].includes(name))) {
    throw new MaintenanceError('exists', `${path} is not empty: name an empty folder, or one that does not exist`);
  }
  return realpath(path);
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
}

/**
 * Throws where a snapshot cannot be restored to a path: before a byte of it is read, since that may take hours. Errors of the system name the
 * folder in which nothing can be made.
 */
export async function checkRestoreTarget(snapshot: string, path: string): Promise<void> {
  await existingFolder(path);
  if (await isPathWithin(path, snapshot)) {
    throw new MaintenanceError(
      'exists',
      `${path} is within the snapshot, which must not change: name a folder elsewhere`,
    );
  }
  await access(await nearestFolder(path), constants.W_OK | constants.X_OK);
}
