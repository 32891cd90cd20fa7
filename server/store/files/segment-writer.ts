import { join } from 'node:path';
import type { OpenSegmentSize } from '../blob-store.ts';
import { newSegmentId, type Place } from '../packed-id.ts';
import { isNoRoom } from '../store-error.ts';
import type { BlobFileSystem } from './file-system.ts';
import { OpenSegment, type Region, type SegmentLimits } from './open-segment.ts';

/** Milliseconds between two looks for segments that are idle. */
const LOOK_INTERVAL = 30_000;

interface SegmentWriterOptions {
  readonly folder: string;
  readonly fs: BlobFileSystem;
  readonly now: () => number;
  readonly random: (size: number) => Buffer;
  readonly limits: () => Promise<SegmentLimits>;
  /** Makes the mark of a segment: no more bytes are appended, and this many are of bodies that failed. */
  readonly seal: (path: string, failed: number) => Promise<void>;
  /** Returns the volume of the folder. Fails where the folder is not that of the deployment, or on another volume than the given one. */
  readonly check: (volume?: string) => Promise<string>;
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
  /** The paths of segments that are closed and have no mark, with the bytes of bodies that failed. */
  readonly #unmarked = new Map<string, number>();

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
      segment.complete(offset, length);
      return { segment: segment.id, offset, length };
    } catch (error) {
      segment.lose(length);
      // Without room, only segments that are sealed can give some back.
      if (isNoRoom(error)) await this.#giveUp(segment);
      throw error;
    } finally {
      await segment.leave();
    }
  }

  /** Retires the active segment if `isDue` says so. */
  async sealOpen(isDue: (open: OpenSegmentSize) => Promise<boolean>): Promise<void> {
    const active = this.#active;
    if (active !== undefined && (await isDue(active.size))) await this.#giveUp(active);
  }

  /** The folder is another one now, or away: what was open or known in it is given up. */
  forget(): void {
    this.#folderMade = undefined;
    const active = this.#active;
    // Its errors are left to the next start, which seals the segment.
    if (active !== undefined) void this.#giveUp(active);
  }

  /** Retires a segment. Another body may have begun a new one meanwhile, which stays. */
  async #giveUp(segment: OpenSegment): Promise<void> {
    if (this.#active !== segment) return;
    this.#active = undefined;
    await segment.retire();
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
        await this.#giveUp(active);
        // Another body may have begun the next one meanwhile. A second one would leave it open without an owner, which ends the process when
        // its handle is collected.
        continue;
      }
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      await this.#opening;
    }
  }

  async #open(): Promise<OpenSegment> {
    const { folder, fs, now, random, check } = this.#options;
    const volume = await check();
    await this.#ensureFolder();
    const id = newSegmentId(random);
    const path = join(folder, id);
    const limits = await this.#options.limits();
    const file = await fs.create(path, { direct: true });
    try {
      await fs.syncFolder(folder);
    } catch (error) {
      await file.close();
      await fs.unlink(path).catch(() => undefined);
      throw error;
    }
    this.#active = new OpenSegment(id, file, {
      limits,
      now,
      seal: (failed) => this.#seal(path, failed),
      check: () => check(volume),
      remove: () => fs.unlink(path),
    });
    // A segment without further writes would keep its garbage.
    if (this.#timer === undefined) this.#timer = setInterval(() => void this.#look(), LOOK_INTERVAL).unref();
    return this.#active;
  }

  async #seal(path: string, failed: number): Promise<void> {
    this.#unmarked.set(path, failed);
    await this.#options.seal(path, failed);
    this.#unmarked.delete(path);
  }

  /** Retires the active segment where it is idle, and seals those again for whose mark the disk had no room. */
  async #look(): Promise<void> {
    for (const [path, failed] of this.#unmarked) await this.#seal(path, failed).catch(() => undefined);
    const active = this.#active;
    if (active?.isIdle(this.#options.now()) === true) await this.#giveUp(active);
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
