import type { OpenSegmentSize, SegmentId } from '../blob-store.ts';
import { paddedLength } from '../packed-id.ts';
import type { NewFile } from './file-system.ts';
import { StoreError } from '../store-error.ts';

const MiB = 1024 * 1024;
/**
 * A segment is sealed when it has this many bytes, or on a small volume this share of it: compaction needs room for the bodies of a segment
 * before it can give back the segment.
 */
const SEGMENT_BYTES = { share: 1 / 512, min: 4 * MiB, max: 128 * MiB };
/** A segment below this share of its size is small: its garbage may wait, since another file for the next body costs more. */
const SMALL = 1 / 8;
/** Milliseconds after which a segment is sealed although it has room. */
const MAX_AGE_MS = 10 * 60_000;
/** Milliseconds without a write after which a segment is sealed, and a small one. Without a mark it counts as sealed after an hour. */
const MAX_IDLE_MS = { any: 60_000, small: 30 * 60_000 };
export interface SegmentLimits {
  /** A segment of this many bytes is sealed. */
  readonly full: number;
  /** A segment below this many bytes is small. */
  readonly small: number;
}

/** Returns the bytes that a segment may have on a volume of this size. */
export function defaultBytes(total: number): number {
  return Math.min(SEGMENT_BYTES.max, Math.max(SEGMENT_BYTES.min, total * SEGMENT_BYTES.share));
}

export function segmentLimits(full: number): SegmentLimits {
  return { full, small: full * SMALL };
}

/** The region of a segment that belongs to one body. Positions count from its begin. */
export type Region = Pick<NewFile, 'write' | 'writeAt' | 'isDirect'>;

interface OpenSegmentOptions {
  readonly limits: SegmentLimits;
  readonly now: () => number;
  /** Makes the mark of the segment: no more bytes are appended, and this many are of bodies that failed. */
  readonly seal: (failed: number) => Promise<void>;
  /** Fails where the path of the segment's folder no longer leads to the volume that has the segment: nothing more is stored then. */
  readonly check: () => Promise<unknown>;
  /** Removes the file of a segment without bodies. */
  readonly remove: () => Promise<void>;
}

/** The segment to which a thread appends. Bodies get regions of their own, and share flushes. */
export class OpenSegment {
  readonly id: SegmentId;
  readonly #file: NewFile;
  readonly #seal: (failed: number) => Promise<void>;
  readonly #remove: () => Promise<void>;
  readonly #now: () => number;
  readonly #check: () => Promise<unknown>;
  readonly #limits: SegmentLimits;
  readonly #opened: number;
  #used: number;
  #end = 0;
  /** The end of the last body, and of the last one that is whole, without padding. */
  #lastEnd = 0;
  #wholeEnd = 0;
  #failed = 0;
  #writers = 0;
  #retired = false;
  /** Set by a failed flush: the system may have dropped bytes that were never written, and say nothing at the next flush. */
  #failure: { readonly error: unknown } | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  constructor(id: SegmentId, file: NewFile, { limits, now, check, seal, remove }: OpenSegmentOptions) {
    this.id = id;
    this.#limits = limits;
    this.#file = file;
    this.#now = now;
    this.#check = check;
    this.#seal = seal;
    this.#remove = remove;
    this.#opened = now();
    this.#used = this.#opened;
  }

  /** With the regions of bodies that are not complete. */
  get size(): OpenSegmentSize {
    return { segment: this.id, size: this.#end, failed: this.#failed, full: this.#limits.full };
  }

  isDue(now: number): boolean {
    if (this.#failure !== undefined || this.#end >= this.#limits.full) return true;
    if (this.#isSmall()) return now - this.#used >= MAX_IDLE_MS.small;
    return now - this.#opened >= MAX_AGE_MS;
  }

  isIdle(now: number): boolean {
    if (this.#writers > 0) return false;
    return this.isDue(now) || now - this.#used >= (this.#isSmall() ? MAX_IDLE_MS.small : MAX_IDLE_MS.any);
  }

  #isSmall(): boolean {
    return this.#end < this.#limits.small;
  }

  enter(): void {
    this.#writers += 1;
  }

  reserve(length: number): number {
    const offset = this.#end;
    this.#end += paddedLength(length);
    this.#lastEnd = offset + length;
    this.#used = this.#now();
    return offset;
  }

  region(offset: number, length: number): Region {
    let position = 0;
    const check = (end: number, max: number) => {
      if (end > max) throw new Error(`a packed body of ${length} bytes has more`);
    };
    return {
      isDirect: this.#file.isDirect,
      write: async (chunks) => {
        const at = position;
        for (const chunk of chunks) position += chunk.length;
        check(position, length);
        await this.#file.write(chunks, offset + at);
      },
      writeAt: (bytes, at) => {
        // The last page belongs to the body as a whole.
        check(at + bytes.length, paddedLength(length));
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
      // The check runs beside the flush, so that it delays no body, and bodies that share a flush share it.
      const [synced, checked] = await Promise.allSettled([this.#file.syncData(), this.#check()]);
      if (synced.status === 'rejected') {
        this.#failure = { error: synced.reason };
        throw synced.reason;
      }
      if (checked.status === 'rejected') throw checked.reason;
    })();
    this.#nextSync = next;
    this.#syncing = next;
    return next;
  }

  /** The body at this offset is durable. */
  complete(offset: number, length: number): void {
    this.#wholeEnd = Math.max(this.#wholeEnd, offset + length);
  }

  /** The body of this length failed, and no record will name its region. */
  lose(length: number): void {
    this.#failed += paddedLength(length);
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
      // On a full disk the rest of bodies that failed would keep its space.
      if (this.#wholeEnd < this.#lastEnd) await this.#cutFailedTail();
      await this.#file.close();
      await (this.#wholeEnd === 0 ? this.#remove() : this.#seal(this.#failed));
    } catch {
      // Without its mark the segment counts as sealed after some time.
    }
  }

  /** All regions after the last whole body failed. */
  async #cutFailedTail(): Promise<void> {
    try {
      await this.#file.truncate(this.#wholeEnd);
      this.#failed -= this.#end - paddedLength(this.#wholeEnd);
    } catch {
      // The tail stays, and counts as failed.
    }
  }
}

function segmentFailed(error: unknown): StoreError {
  return new StoreError('unreachable', 'a flush of the segment failed before', { cause: error });
}
