import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporaryName } from '../entries/temporary-files.ts';
import type { ChangeQueue } from './change-queue.ts';

/**
 * Watches a folder and all folders below it. The recursive watch of Node opens each file; this one opens each folder. Links are not
 * followed. `close` ends it.
 */
export class FolderWatcher {
  readonly #root: string;
  readonly #queue: ChangeQueue;
  /** By the name below the root, which ends with `/`. */
  readonly #watchers = new Map<string, FSWatcher>();
  #isClosed = false;

  constructor(root: string, queue: ChangeQueue) {
    this.#root = root;
    this.#queue = queue;
  }

  /** Resolves when all folders are watched. */
  async start(): Promise<void> {
    await this.#add('', false);
  }

  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** `announce`: the folder is new, so that its files are changes. */
  async #add(folder: string, announce: boolean): Promise<void> {
    if (this.#isClosed || this.#watchers.has(folder)) return;
    const path = join(this.#root, folder);
    const watcher = watch(path, (_, name) => {
      if (name === null) this.#queue.loseTrack();
      else void this.#changed(`${folder}${name}`).catch((error: unknown) => this.#queue.fail(error));
    });
    watcher.on('error', (error) => (folder === '' ? this.#queue.fail(error) : this.#drop(folder)));
    this.#watchers.set(folder, watcher);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await this.#add(`${folder}${entry.name}/`, announce).catch(ignoreMissing);
      else if (announce) this.#queue.add(`${folder}${entry.name}`);
    }
  }

  async #changed(name: string): Promise<void> {
    if (isTemporaryName(name.slice(name.lastIndexOf('/') + 1))) return;
    const found = await lstat(join(this.#root, name)).catch(ignoreMissing);
    if (found?.isDirectory() === true) await this.#add(`${name}/`, true).catch(ignoreMissing);
    else if (this.#watchers.has(`${name}/`)) {
      // A folder that was moved away takes its files with it, without an event for each.
      this.#drop(`${name}/`);
      this.#queue.loseTrack();
    } else this.#queue.add(name);
  }

  #drop(folder: string): void {
    for (const [name, watcher] of this.#watchers) {
      if (!name.startsWith(folder)) continue;
      watcher.close();
      this.#watchers.delete(name);
    }
  }
}

/** A file may be gone before the watcher looks at it. */
function ignoreMissing(error: unknown): undefined {
  if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
  throw error;
}
