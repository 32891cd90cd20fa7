import { join } from 'node:path';
import { StoreUnavailable } from '../record-store.ts';
import type { SegmentId } from '../blob-store.ts';
import { newSegmentId, type Place, paddedLength } from '../packed-id.ts';
import { type BlobFileSystem, codeOf, type NewFile } from './file-system.ts';

/** Appended to the name of a segment for an empty file, which says that nothing more is written to it. */
export const SEALED = '.sealed';

const MiB = 1024 * 1024;
/**
 * A segment is sealed when it has this many bytes, or on a small volume this share of it: compaction needs room for the bodies of a segment
 * before it can give back the segment.
 */
const SEGMENT_BYTES = { share: 1 / 512, least: 4 * MiB, most: 128 * MiB };
/** Milliseconds after which a segment is sealed although it has room. */
const MAX_AGE_MS = 10 * 60_000;
/** Milliseconds without a write after which a segment is sealed. */
const MAX_IDLE_MS = 60_000;

/** The region of a segment that belongs to one body. Positions count from its begin. */
export type Region = Pick<NewFile, 'write' | 'writeAt'>;

interface SegmentWriterOptions {
  readonly folder: string;
  readonly fs: BlobFileSystem;
  readonly now: () => number;
  readonly random: (size: number) => Buffer;
}

/**
 * Writes bodies into the segments of one thread. A body gets a region of its own, so that slow bodies do not wait for each other, and
 * bodies that are complete at the same time share a flush.
 */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #active: OpenSegment | undefined;
  #opening: Promise<OpenSegment> | undefined;
  #folderMade: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Resolves when the body is durable. `fill` writes `length` bytes. */
  async write(length: number, fill: (region: Region) => Promise<number>): Promise<Place> {
    const segment = await this.#segment();
    const offset = segment.reserve(length);
    try {
      const written = await fill(segment.region(offset, length));
      if (written !== length) throw new Error(`${written} bytes came for a packed body of ${length}`);
      await segment.sync();
      return { segment: segment.id, offset, length };
    } catch (error) {
      // Without room, only segments that are sealed can give some back.
      if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT') segment.close();
      throw error;
    } finally {
      await segment.leave();
    }
  }

  /** Returns the active segment with a place for one more writer. */
  async #segment(): Promise<OpenSegment> {
    for (;;) {
      const active = this.#active;
      if (active !== undefined) {
        if (!active.isDue(this.#options.now())) {
          active.enter();
          return active;
        }
        this.#active = undefined;
        await active.retire();
      }
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      await this.#opening;
    }
  }

  async #open(): Promise<OpenSegment> {
    const { folder, fs, now, random } = this.#options;
    await this.#ensureFolder();
    const id = newSegmentId(random);
    const path = join(folder, id);
    const total = (await fs.space(folder))?.total ?? Infinity;
    const bytes = Math.min(SEGMENT_BYTES.most, Math.max(SEGMENT_BYTES.least, total * SEGMENT_BYTES.share));
    const file = await fs.create(path);
    try {
      await fs.syncFolder(folder);
    } catch (error) {
      await file.close();
      await fs.unlink(path).catch(() => undefined);
      throw error;
    }
    const seal = async () => {
      const mark = await fs.create(path + SEALED);
      await mark.close();
    };
    this.#active = new OpenSegment(id, file, { bytes, now, seal });
    // A segment that nobody writes to any more would keep its garbage.
    if (this.#timer === undefined) this.#timer = setInterval(() => void this.#retireIdle(), MAX_IDLE_MS / 2).unref();
    return this.#active;
  }

  async #retireIdle(): Promise<void> {
    const active = this.#active;
    if (active === undefined || !active.isIdle(this.#options.now())) return;
    this.#active = undefined;
    await active.retire();
  }

  #ensureFolder(): Promise<void> {
    const { folder, fs } = this.#options;
    if (this.#folderMade !== undefined) return this.#folderMade;
    const making = (async () => {
      await fs.makeFolder(folder);
      await fs.syncFolder(join(folder, '..'));
    })();
    this.#folderMade = making;
    // The caller gets the failure; the next call tries again.
    making.catch(() => {
      this.#folderMade = undefined;
    });
    return making;
  }
}

class OpenSegment {
  readonly id: SegmentId;
  readonly #file: NewFile;
  readonly #seal: () => Promise<void>;
  readonly #now: () => number;
  readonly #bytes: number;
  readonly #opened: number;
  #used: number;
  #end = 0;
  #closed = false;
  #writers = 0;
  #retired = false;
  /** Set by a failed flush: the system may have dropped bytes that were never written, and say nothing at the next flush. */
  #failure: { readonly error: unknown } | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  constructor(
    id: SegmentId,
    file: NewFile,
    { bytes, now, seal }: { readonly bytes: number; readonly now: () => number; readonly seal: () => Promise<void> },
  ) {
    this.id = id;
    this.#bytes = bytes;
    this.#file = file;
    this.#now = now;
    this.#seal = seal;
    this.#opened = now();
    this.#used = this.#opened;
  }

  isDue(now: number): boolean {
    if (this.#closed || this.#failure !== undefined) return true;
    return this.#end >= this.#bytes || now - this.#opened >= MAX_AGE_MS;
  }

  /** Takes no more writers. */
  close(): void {
    this.#closed = true;
  }

  isIdle(now: number): boolean {
    return this.#writers === 0 && (this.#closed || now - this.#used >= MAX_IDLE_MS);
  }

  enter(): void {
    this.#writers += 1;
  }

  reserve(length: number): number {
    const offset = this.#end;
    this.#end += paddedLength(length);
    this.#used = this.#now();
    return offset;
  }

  region(offset: number, length: number): Region {
    let position = 0;
    const check = (end: number) => {
      if (end > length) throw new Error(`a packed body of ${length} bytes has more`);
    };
    return {
      write: async (chunks) => {
        const at = position;
        for (const chunk of chunks) position += chunk.length;
        check(position);
        await this.#file.write(chunks, offset + at);
      },
      writeAt: (bytes, at) => {
        check(at + bytes.length);
        return this.#file.writeAt(bytes, offset + at);
      },
    };
  }

  /** Flushes everything that was written before. Callers that wait for a running flush share the next one. */
  sync(): Promise<void> {
    if (this.#nextSync !== undefined) return this.#nextSync;
    const running = this.#syncing;
    const next = (async () => {
      await running.catch(() => undefined);
      this.#nextSync = undefined;
      if (this.#failure !== undefined) throw segmentFailed(this.#failure.error);
      try {
        await this.#file.syncData();
      } catch (error) {
        this.#failure = { error };
        throw error;
      }
    })();
    this.#nextSync = next;
    this.#syncing = next;
    return next;
  }

  async leave(): Promise<void> {
    this.#writers -= 1;
    await this.#closeIfDone();
  }

  /** The last writer closes the segment. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.#closeIfDone();
  }

  async #closeIfDone(): Promise<void> {
    if (!this.#retired || this.#writers > 0) return;
    this.#retired = false;
    try {
      await this.#file.close();
      await this.#seal();
    } catch {
      // Without its mark the segment counts as sealed after some time.
    }
  }
}

function segmentFailed(error: unknown): StoreUnavailable {
  return new StoreUnavailable('unreachable', 'a flush of the segment failed before', { cause: error });
}
