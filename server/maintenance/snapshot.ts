import { constants } from 'node:fs';
import { chmod, copyFile, link, mkdir, readFile, rename, rm, stat, opendir, readdir, rmdir } from 'node:fs/promises';
import { syncFile, makeDurableFolder, syncFolder, writeDurably } from '../store/durable-file.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { holdRemovals } from '../objects/garbage-collection.ts';
import type { BlobId } from '../store/blob-store.ts';
import { markerName } from '../store/blobs-marker.ts';
import { openLmdbRecordStore } from '../store/lmdb/record-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { referredBlobs } from './verify/blob-references.ts';

/** What file systems say that have no links, or not to there. */
const noLinks = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** A second name for a file that is never changed, which takes no room; a copy where that cannot be. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && noLinks.has(String(error.code)))) throw error;
    await durableCopy(from, to);
  }
}

/** A copy of its own, by reference where the file system can. The name is not durable yet. */
async function durableCopy(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
  await syncFile(to);
}

interface SnapshotOptions {
  /** Of the process that serves the records, or has locked their folder. */
  readonly records: RecordStore;
  /** The data folder that holds records and blobs. */
  readonly folder: string;
  /** A folder that does not exist yet. */
  readonly out: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SnapshotSummary) => void;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

export interface SnapshotSummary {
  readonly blobs: number;
  /** Blobs that the records refer to and that are not there: `verify` says whose. */
  readonly missing: number;
}

/** The target cannot be written, or is there already. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/**
 * Makes a data folder of what the stores hold at one moment: the records, and the blobs that they refer to under second names, which
 * take no room on the same file system. Blobs are never changed, and none is removed until all are linked. The folder has its name
 * only when all of it is durable.
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<SnapshotSummary> {
  const { records, folder, out, clock = Date.now, random = randomBytes } = options;
  if (records.backup === undefined) throw new SnapshotError('only records in a data folder have snapshots');
  if (await exists(out)) throw new SnapshotError(`${out} exists already: name a folder that does not`);
  await makeDurableFolder(dirname(out));
  const partial = `${out}.partial-${randomUUID()}`;
  const hold = await holdRemovals(records, { clock, random });
  try {
    await mkdir(partial, { mode: 0o700 });
    await records.backup(join(partial, 'records'));
    const summary = await linkBlobs(options, partial);
    const { deploymentId } = await copySmallFiles(folder, partial);
    const about = { taken: new Date(clock()).toISOString(), deploymentId, ...summary };
    await writeDurably(join(partial, 'snapshot.json'), `${JSON.stringify(about, undefined, 2)}\n`);
    await syncFolder(partial);
    await rename(partial, out);
    await syncFolder(dirname(out));
    return summary;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  } finally {
    await hold.release();
  }
}

async function linkBlobs({ folder, signal, onProgress }: SnapshotOptions, partial: string): Promise<SnapshotSummary> {
  const target = join(partial, 'blobs');
  await mkdir(target, { mode: 0o700 });
  const made = new Set<string>();
  let summary: SnapshotSummary = { blobs: 0, missing: 0 };
  const snapshot = openLmdbRecordStore({ folder: join(partial, 'records') });
  try {
    for await (const blob of referredBlobs(snapshot, signal)) {
      const place = placeOf(blob);
      if (!made.has(dirname(place))) {
        made.add(dirname(place));
        await mkdir(join(target, dirname(place)), { mode: 0o700 });
      }
      const { blobs, missing } = summary;
      try {
        await linkOrCopy(join(folder, 'blobs', place), join(target, place));
        summary = { blobs: blobs + 1, missing };
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
        summary = { blobs, missing: missing + 1 };
      }
      onProgress?.(summary);
    }
  } finally {
    await snapshot.close();
  }
  for (const name of made) await syncFolder(join(target, name));
  await syncFolder(target);
  return summary;
}

/** As the files engine places them. */
function placeOf(blob: BlobId): string {
  return join(blob.slice(-2), blob);
}

async function copySmallFiles(folder: string, partial: string): Promise<{ readonly deploymentId?: string }> {
  const format = await readFile(join(folder, 'format.json'), 'utf8');
  await writeDurably(join(partial, 'format.json'), format);
  try {
    const marker = await readFile(join(folder, 'blobs', markerName), 'utf8');
    await writeDurably(join(partial, 'blobs', markerName), marker);
  } catch (error) {
    // Folders of older servers have none.
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

/** What opening a snapshot leaves in it: nothing that a data folder needs. */
const leftOut = new Set(['lock', 'lock.mdb', 'snapshot.json']);

/**
 * Makes a data folder of a snapshot, which stays as it is: its files are copied and not linked. The folder has its name only when all
 * of it is durable. The snapshot should have been verified.
 */
export async function restoreSnapshot(snapshot: string, folder: string): Promise<void> {
  const target = resolve(folder);
  await refuseUnlessEmpty(target);
  await makeDurableFolder(dirname(target));
  const partial = `${target}.partial-${randomUUID()}`;
  try {
    await copyFolder(resolve(snapshot), partial);
    await rmdir(target).catch(() => undefined);
    await rename(partial, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for await (const entry of await opendir(from)) {
    if (leftOut.has(entry.name)) continue;
    if (entry.isDirectory()) await copyFolder(join(from, entry.name), join(to, entry.name));
    else await durableCopy(join(from, entry.name), join(to, entry.name));
  }
  await syncFolder(to);
}

async function refuseUnlessEmpty(folder: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  if (names.length > 0) {
    throw new SnapshotError(`${folder} holds something already: name a folder that is empty, or does not exist yet`);
  }
}
