import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { commitChannel } from '../commit-channel.ts';
import { checkBatch } from '../commits.ts';
import { checkKey } from '../keys.ts';
import {
  closed,
  type Batch,
  type CommitId,
  type Entry,
  type Key,
  type Outcome,
  type RecordStore,
  type ScanItem,
  type ScanRange,
} from '../record-store.ts';
import { probeFolder } from '../folder-probe.ts';
import { backupLmdb, type Environment, makeEnvironment, openEnvironment, RECORD_FILE } from './environment.ts';
import type { RecordCount } from '../record-counts.ts';
import { readCounts } from './counts.ts';
import { Ballast } from './ballast.ts';
import { CommitQueue } from './commit.ts';
import { DiskRoom, FreeSpace } from './free-space.ts';
import { OpenedFile } from './opened-file.ts';
import type { RecordTables } from './record-tables.ts';
import { ScanHandle, readPage } from './scan.ts';
import { causeOf, isOfDamagedFile, isOfGivenUpFile, recordFileFailed, unavailable } from './errors.ts';
import { FailedWrites } from './failed-writes.ts';

interface LmdbOptions {
  /** An existing folder for the files of the environment. */
  readonly folder: string;
  /** The address space in bytes. The file on disk grows as it is written. */
  readonly mapSize?: number;
  /** Reserves 8 MiB of the disk for deletes. */
  readonly ballast?: boolean;
  /** True to open an existing file without a change of it. */
  readonly readOnly?: boolean;
  /** Called when the record file has failed. By default the thread ends, and the process with it. */
  readonly onFailed?: (error: Error) => void;
}

/** Opens records on the local disk. Every thread of the process opens its own handle; they share one environment. */
export function openLmdbRecordStore(options: LmdbOptions): RecordStore {
  const { readOnly = false } = options;
  if (!readOnly) makeEnvironment(options.folder);
  const environment = openEnvironment(options.folder, options.mapSize, readOnly);
  // LMDB flushes its file but not the folder that has its name.
  if (!readOnly) syncFolder(options.folder);
  const space = new FreeSpace(options.folder);
  const ballast = options.ballast === true ? new Ballast(options.folder, environment.tables, space) : undefined;
  return new LmdbRecordStore(environment, options.folder, options.onFailed ?? endThread, { space, ballast });
}

class LmdbRecordStore implements RecordStore {
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #tables: RecordTables;
  readonly #scans: ScanHandle;
  readonly #queue: CommitQueue;
  readonly #ballast: Ballast | undefined;
  readonly #folder: string;
  readonly #file: OpenedFile;
  readonly #onFailed: (error: Error) => void;
  readonly #backups = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(
    { root, tables }: Environment,
    folder: string,
    onFailed: (error: Error) => void,
    { space, ballast }: { readonly space: FreeSpace; readonly ballast: Ballast | undefined },
  ) {
    this.#root = root;
    this.#onFailed = onFailed;
    this.#tables = tables;
    this.#scans = new ScanHandle(root, tables);
    this.#ballast = ballast;
    this.#folder = folder;
    this.#file = new OpenedFile(folder);
    const file = join(folder, RECORD_FILE);
    const room = new DiskRoom(folder, space);
    const failureOf = async (error: unknown) => {
      const failure = await unavailable(await causeOf(error, () => writes.recent()), {
        file,
        wasThereRoom: () => room.wasThere(),
        isGivenUp: tables.isGivenUp(),
      });
      if (failure.code !== 'full') onFailed(recordFileFailed(failure));
      return failure;
    };
    // Not only where a commit is told of it: lmdb-js may forget to tell.
    const writes = new FailedWrites(root, (error) => void failureOf(error));
    this.#queue = new CommitQueue(root, tables, failureOf, {
      ballast,
      begins: () => room.look(),
      fault: () => this.#file.fault(),
    });
  }

  // Async only so that errors are rejections: the read takes a few microseconds.
  // eslint-disable-next-line typescript/require-await
  async get(key: Key): Promise<Entry | undefined> {
    checkKey(key);
    return this.#read(() => this.#tables.get(key));
  }

  // Async only so that errors are rejections. The reads share a snapshot, because no other code of this thread runs between them.
  // eslint-disable-next-line typescript/require-await
  async getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]> {
    for (const key of keys) checkKey(key);
    return this.#read(() => keys.map((key) => this.#tables.get(key)));
  }

  async *scan(range: ScanRange): AsyncIterable<ScanItem> {
    // `yield*` would make two more promises for each item.
    for await (const items of this.scanPages(range)) for (const item of items) yield item;
  }

  async *scanPages(range: ScanRange): AsyncIterable<readonly ScanItem[]> {
    let start = range.start;
    let end = range.end;
    for (let left = range.limit ?? Infinity; left > 0;) {
      const rest = { ...range, start, end };
      const page = this.#read(() => readPage(this.#scans, rest, left));
      left -= page.items.length;
      yield page.items;
      if (page.next === undefined) return;
      if (range.reverse === true) end = page.next;
      else start = page.next;
    }
  }

  async commit(batch: Batch): Promise<Outcome> {
    checkBatch(batch);
    if (commitChannel.hasSubscribers) commitChannel.publish(batch);
    if (this.#closing !== undefined) throw closed('record');
    return this.#queue.commit(batch);
  }

  /** Knows the recent commits of this handle only. LMDB always answers, so a caller never asks another handle. */
  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    if (this.#closing !== undefined) throw closed('record');
    return this.#queue.outcome(id);
  }

  /** Counts unused pages of the file as free space: LMDB reuses them before the file grows. */
  async space(): Promise<{ readonly free: number; readonly total: number } | undefined> {
    return this.#read(() => this.#ballast?.space())?.catch((error: unknown) => {
      throw this.#told(error);
    });
  }

  async check(): Promise<void> {
    const fault = this.#file.fault();
    if (fault !== undefined) throw fault;
    await probeFolder(this.#folder, 'records');
  }

  async backup(folder: string): Promise<void> {
    if (this.#closing !== undefined) throw closed('record');
    const backup = backupLmdb(this.#root, folder);
    this.#backups.add(backup);
    try {
      await backup;
    } finally {
      this.#backups.delete(backup);
    }
  }

  // Async only so that errors are rejections.
  // eslint-disable-next-line typescript/require-await
  async counts(): Promise<readonly RecordCount[] | undefined> {
    return this.#read(() => readCounts(this.#root));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.drained();
    // A thread of its own copies from the map. To close the environment under it ends the process by SIGSEGV or by an assertion of LMDB.
    await Promise.allSettled(this.#backups);
    await this.#root.close();
  }

  /** Reads from a fresh snapshot. The commit of another thread may have ended with a file that LMDB has given up: nothing is read from it any more. */
  #read<T>(work: () => T): T {
    if (this.#closing !== undefined) throw closed('record');
    try {
      this.#tables.freshSnapshot();
      return work();
    } catch (error) {
      throw this.#told(error);
    }
  }

  #told(error: unknown): unknown {
    if (!isOfGivenUpFile(error) && !isOfDamagedFile(error)) return error;
    const failure = recordFileFailed(error);
    this.#onFailed(failure);
    return failure;
  }
}

/** Ends the thread with an uncaught error before it answers any caller. */
function endThread(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
