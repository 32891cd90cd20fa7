import type { VolumeSpace } from '../volume-space.ts';
import { join } from 'node:path';
import type { Chunks } from '../../streams/chunks.ts';
import { type BlobId, type BlobRange, type BlobStore, isBlobId, type WriteOptions } from '../blob-store.ts';
import { probeFolder } from '../folder-probe.ts';
import type { BlobsMarker } from '../blobs-marker.ts';
import { type Place, placeOf } from '../packed-id.ts';
import { BlobChunks } from './read-blob.ts';
import { type BlobFileSystem, type FileStat, isNoSuchFile, type NewFile, type OpenFile } from './file-system.ts';
import { DeploymentFolder } from './deployment-folder.ts';
import { FileSegments, type SegmentOptions, SEGMENTS } from './file-segments.ts';
import { filler, unavailable } from './write-blob.ts';
import { nodeFileSystem } from './node-file-system.ts';

const HALF_WRITTEN = '.part';

/**
 * Keeps blobs as files below an existing folder, in 256 folders by the last byte of their id. A blob is written under a temporary name,
 * flushed and renamed, and the folder is flushed. Only then `write` resolves.
 */
export function openFilesBlobStore(folder: string, options: FilesBlobStoreOptions = {}): BlobStore {
  const { fs = nodeFileSystem, now = Date.now, deployment, marker, ...more } = options;
  const home = new DeploymentFolder({ path: folder, fs, deployment, ...(marker && { marker }) });
  return new FilesBlobStore(folder, { ...more, fs, now, home });
}

interface FilesBlobStoreOptions extends Partial<Omit<SegmentOptions, 'home'>> {
  /** Returns the ID of the deployment that the marker in the folder must name; undefined where nothing is checked. */
  readonly deployment?: (() => string | undefined) | undefined;
  /** That of the folder by default. */
  readonly marker?: BlobsMarker;
}

class FilesBlobStore implements BlobStore {
  readonly #root: string;
  readonly #fs: BlobFileSystem;
  readonly #now: () => number;
  readonly #home: DeploymentFolder;
  readonly segments: FileSegments;
  /** The folders that this store has made and flushed. */
  readonly #folders = new Map<string, Promise<void>>();

  constructor(root: string, options: SegmentOptions) {
    this.#root = root;
    this.#fs = options.fs;
    this.#now = options.now;
    this.#home = options.home;
    options.home.onChange(() => this.#folders.clear());
    this.segments = new FileSegments(join(root, SEGMENTS), options);
  }

  async write(id: BlobId, body: AsyncIterable<Buffer>, options: WriteOptions = {}): Promise<{ readonly size: number }> {
    const fill = filler(body, options);
    const folder = this.#folderOf(id);
    const path = join(folder, id);
    // The file to remove if a step fails. Set only after this call has made it.
    let made: string | undefined;
    try {
      const volume = await this.#home.check();
      await this.#ensure(folder);
      await this.#refuseSecond(path, id);
      const file = await this.#fs.create(path + HALF_WRITTEN, { direct: options.pages === true });
      made = path + HALF_WRITTEN;
      const size = await fillAndClose(file, fill);
      await this.#fs.rename(made, path);
      made = path;
      // A power cut would undo the rename without this flush.
      await this.#fs.syncFolder(folder);
      await this.#home.check(volume);
      return { size };
    } catch (error) {
      if (made !== undefined) await this.#forget(made);
      throw await unavailable(await this.#home.explain(error), () => this.space());
    }
  }

  read(id: BlobId, range: BlobRange): Chunks {
    const path = join(this.#folderOf(id), id);
    const place = placeOf(id);
    const open = async () => {
      try {
        return await (place === undefined ? this.#fs.open(path) : this.#openPacked(place, path));
      } catch (error) {
        throw await this.#home.explain(error);
      }
    };
    return new BlobChunks({ ...range, open, id });
  }

  async remove(id: BlobId): Promise<void> {
    const path = join(this.#folderOf(id), id);
    let removed = false;
    for (const name of [path, path + HALF_WRITTEN]) {
      try {
        await this.#fs.unlink(name);
        removed = true;
      } catch (error) {
        if (!isNoSuchFile(error)) throw await this.#home.explain(error);
      }
    }
    // Without its volume, the folder has no blob at all.
    if (!removed) await this.#home.check();
  }

  async *list(): AsyncIterable<{ readonly id: BlobId; readonly size: number; readonly ageMs: number }> {
    await this.#home.check();
    for (let byte = 0; byte < 256; byte += 1) {
      const folder = join(this.#root, byte.toString(16).padStart(2, '0'));
      for await (const name of this.#fs.names(folder)) {
        const id = name.endsWith(HALF_WRITTEN) ? name.slice(0, -HALF_WRITTEN.length) : name;
        if (!isBlobId(id)) continue;
        const found = await this.#statOf(join(folder, name));
        if (found !== undefined) yield { id, size: found.size, ageMs: this.#now() - found.modifiedMs };
      }
    }
    // A volume that went meanwhile shows no names, and no error.
    await this.#home.check();
  }

  async check(): Promise<void> {
    await this.#home.check();
    try {
      await probeFolder(this.#root, 'blobs');
    } catch (error) {
      // A folder that is away is the reason for all its errors.
      await this.#home.check();
      throw error;
    }
  }

  space(): Promise<VolumeSpace> {
    return this.#fs.space(this.#root);
  }

  /** A copy of a store has packed bodies as files of their own. */
  async #openPacked(place: Place, path: string): Promise<OpenFile> {
    // A shared file system looks for a missing file again and again. The segment of a copied body never comes.
    const mayBeCopied = this.#fs.shared === true && !(await this.segments.has(place.segment));
    if (mayBeCopied && (await this.#statOf(path)) !== undefined) return this.#fs.open(path);
    try {
      return await this.segments.open(place);
    } catch (error) {
      if (!isNoSuchFile(error)) throw error;
      return this.#fs.open(path);
    }
  }

  #folderOf(id: BlobId): string {
    // The id becomes part of a path.
    if (!isBlobId(id)) throw new TypeError(`${JSON.stringify(id)} is not a blob id`);
    return join(this.#root, id.slice(-2));
  }

  /** Makes and flushes a folder. An existing folder is flushed too: another thread may have made it and not flushed it yet. */
  #ensure(folder: string): Promise<void> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const making = (async () => {
      await this.#fs.makeFolder(folder);
      await this.#fs.syncFolder(this.#root);
    })();
    this.#folders.set(folder, making);
    // The caller gets the failure; the next call tries again.
    making.catch(() => this.#folders.delete(folder));
    return making;
  }

  async #refuseSecond(path: string, id: BlobId): Promise<void> {
    if ((await this.#statOf(path)) !== undefined)
      throw new Error(`blob ${id} exists already: ids are never used twice`);
  }

  async #statOf(path: string): Promise<FileStat | undefined> {
    try {
      return await this.#fs.stat(path);
    } catch (error) {
      if (isNoSuchFile(error)) return undefined;
      throw error;
    }
  }

  /** If this fails too, garbage collection removes the file, as after a crash. */
  async #forget(path: string): Promise<void> {
    await this.#fs.unlink(path).catch(() => undefined);
  }
}

async function fillAndClose(file: NewFile, fill: (file: NewFile) => Promise<number>): Promise<number> {
  try {
    const size = await fill(file);
    await file.syncData();
    return size;
  } finally {
    await file.close();
  }
}
