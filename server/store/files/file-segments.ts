import { systemErrorCode } from '../../../platform/errors/system-error.ts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { BlobId, ListedSegment, OpenSegmentSize, SegmentId, Segments, WriteOptions } from '../blob-store.ts';
import { isSegmentId, packedId, type Place } from '../packed-id.ts';
import { type BlobFileSystem, type FileStat, isNoSuchFile, type OpenFile } from './file-system.ts';
import type { DeploymentFolder } from './deployment-folder.ts';
import { SegmentReader } from './segment-reader.ts';
import { nodeFileSystem } from './node-file-system.ts';
import { defaultBytes, segmentLimits, type SegmentLimits } from './open-segment.ts';
import { SegmentWriter } from './segment-writer.ts';
import { filler, unavailable } from './write-blob.ts';
import { PageBuffers } from './write-pages.ts';

/** The folder of segments below that of blobs. */
export const SEGMENTS = 'segments';
/**
 * Appended to the name of a segment for a file that says that nothing more is written to it. It has the bytes of bodies that failed in
 * decimal digits, and is empty where there are none or the process was killed.
 */
const SEALED = '.sealed';

export interface SegmentOptions {
  readonly fs: BlobFileSystem;
  readonly now: () => number;
  /** The folder of the deployment, which has that of the segments. */
  readonly home: DeploymentFolder;
  /** The bytes at which a segment is sealed. By default the size of the volume decides. */
  readonly segmentBytes?: number;
}

/** The segments below a folder. Those that this object writes are its own. */
export class FileSegments implements Segments {
  readonly #folder: string;
  readonly #fs: BlobFileSystem;
  readonly #now: () => number;
  readonly #home: DeploymentFolder;
  readonly #limits: () => Promise<SegmentLimits>;
  readonly #reader: SegmentReader;
  /** Sealed segments, which do not change. */
  readonly #sealed = new Map<SegmentId, FileStat & { readonly failed: number }>();
  readonly #writer: SegmentWriter;
  readonly #buffers = new PageBuffers();

  constructor(folder: string, options: SegmentOptions) {
    const { fs, now, home } = options;
    this.#folder = folder;
    this.#home = home;
    this.#fs = fs;
    this.#now = now;
    this.#limits = async () => segmentLimits(options.segmentBytes ?? defaultBytes((await fs.space(folder)).total));
    this.#reader = new SegmentReader(folder, fs, now);
    this.#writer = new SegmentWriter({
      folder,
      fs,
      now,
      random: randomBytes,
      limits: this.#limits,
      seal: (path, failed) => sealSegment(fs, path, failed),
      check: (volume) => home.check(volume),
    });
    home.onChange(() => {
      this.#sealed.clear();
      this.#reader.forget();
      this.#writer.forget();
    });
  }

  async write(
    body: AsyncIterable<Buffer>,
    { length, ...options }: WriteOptions & { readonly length: number },
  ): Promise<{ readonly id: BlobId }> {
    try {
      return { id: packedId(await this.#writer.write(length, filler(body, options, this.#buffers))) };
    } catch (error) {
      throw await unavailable(await this.#home.explain(error), () => this.#fs.space(this.#folder));
    }
  }

  open(place: Place): Promise<OpenFile> {
    return this.#reader.open(place);
  }

  sealOpen(isDue: (open: OpenSegmentSize) => Promise<boolean>): Promise<void> {
    return this.#writer.sealOpen(isDue);
  }

  async has(segment: SegmentId): Promise<boolean> {
    if ((await this.#statOf(segment)) !== undefined) return true;
    await this.#home.check();
    return false;
  }

  async *list(): AsyncIterable<ListedSegment> {
    const names = new Set(await Array.fromAsync(this.#fs.names(this.#folder)));
    // A folder whose volume is away looks like one without segments.
    await this.#home.check();
    if (names.size === 0) return;
    const { small } = await this.#limits();
    for (const segment of this.#sealed.keys()) if (!names.has(segment)) this.#sealed.delete(segment);
    for (const segment of names) {
      if (!isSegmentId(segment)) continue;
      const sealed = names.has(segment + SEALED);
      const found = this.#sealed.get(segment) ?? (await this.#look(segment, sealed));
      if (found === undefined) continue;
      if (sealed) this.#sealed.set(segment, found);
      const { size, failed, modifiedMs } = found;
      yield { segment, size, failed, ageMs: this.#now() - modifiedMs, sealed, small: size < small };
    }
  }

  async #look(segment: SegmentId, sealed: boolean): Promise<(FileStat & { readonly failed: number }) | undefined> {
    const found = await this.#statOf(segment);
    if (found === undefined) return undefined;
    return { ...found, failed: sealed ? await this.#failedIn(segment) : 0 };
  }

  /** Reads the mark of a segment. */
  async #failedIn(segment: SegmentId): Promise<number> {
    try {
      const mark = await this.#fs.open(join(this.#folder, segment + SEALED));
      try {
        const digits = Buffer.alloc(16);
        const text = digits.toString('latin1', 0, await mark.read(digits, 0));
        return /^[0-9]+$/.test(text) ? Number(text) : 0;
      } finally {
        await mark.close();
      }
    } catch (error) {
      if (isNoSuchFile(error)) return 0;
      throw error;
    }
  }

  async #statOf(segment: SegmentId): Promise<FileStat | undefined> {
    try {
      return await this.#fs.stat(join(this.#folder, segment));
    } catch (error) {
      if (isNoSuchFile(error)) return undefined;
      throw error;
    }
  }

  async remove(segment: SegmentId): Promise<void> {
    await this.#home.check();
    const path = join(this.#folder, segment);
    // The mark goes first, so that a crash in between leaves no mark without a segment.
    for (const name of [path + SEALED, path]) {
      try {
        await this.#fs.unlink(name);
      } catch (error) {
        if (!isNoSuchFile(error)) throw error;
      }
    }
  }
}

/**
 * Seals the segments of an earlier process, which ended without doing so. The caller holds the lock of the folder: no process appends to
 * them.
 */
export async function sealLeftSegments(
  folder: string,
  fs: Pick<BlobFileSystem, 'create' | 'names' | 'stat'> = nodeFileSystem,
): Promise<void> {
  const names = new Set(await Array.fromAsync(fs.names(folder)));
  for (const name of names) {
    if (isSegmentId(name) && !names.has(name + SEALED)) await sealSegment(fs, join(folder, name), 0);
  }
}

/** Makes the mark of a segment: no more bytes are appended. A mark that is there already is not an error. */
async function sealSegment(fs: Pick<BlobFileSystem, 'create' | 'stat'>, path: string, failed: number): Promise<void> {
  try {
    // Compaction may have removed a segment whose mark came late.
    await fs.stat(path);
    const mark = await fs.create(path + SEALED);
    try {
      if (failed > 0) await mark.write([Buffer.from(String(failed))]);
    } finally {
      await mark.close();
    }
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST' && !isNoSuchFile(error)) throw error;
  }
}
