import { closeSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { keepOwner } from '../folder-owner.ts';
import { isNoRoom } from '../store-error.ts';
import type { FreeSpace, Space } from './free-space.ts';
import type { RecordTables } from './record-tables.ts';

/** A group of deletes copies some pages for each key before any page is free again. This has space for thousands of keys. */
const BALLAST_BYTES = 8 * 1024 * 1024;
const CHUNK = Buffer.alloc(1024 * 1024);
/** The result of a check for free space is used for this many milliseconds. */
const CHECK_INTERVAL = 100;
/** The same where a full disk or quota shows only when the check writes the ballast. */
const QUOTA_INTERVAL = 10_000;

/**
 * Reserves disk space for deletes. LMDB changes a page by writing a copy, so a full disk could not delete either. The ballast is a file
 * of zeros that is removed when the disk is full. While it is absent and no space was freed, only batches that delete are accepted.
 *
 * Every thread has one of these objects; they share the file.
 */
export class Ballast {
  readonly #file: string;
  readonly #tables: Pick<RecordTables, 'reusableBytes'>;
  readonly #space: Pick<FreeSpace, 'last' | 'now'>;
  #judgedUntil = -Infinity;
  #tight = false;

  constructor(folder: string, tables: Pick<RecordTables, 'reusableBytes'>, space: Pick<FreeSpace, 'last' | 'now'>) {
    this.#file = join(folder, 'ballast');
    this.#tables = tables;
    this.#space = space;
    if (!this.#isThere()) this.#place();
  }

  /** Removes the ballast. Returns false if there was none. */
  release(): boolean {
    this.#judgedUntil = -Infinity;
    try {
      unlinkSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Returns true while only batches that free space may be written. Restores the ballast when there is space again. A disk that does not report
   * its space counts as one with space, unless it refuses the ballast. Throws only if LMDB cannot read.
   */
  isTight(): boolean {
    if (this.#isThere()) return false;
    const now = performance.now();
    if (now < this.#judgedUntil) return this.#tight;
    const disk = this.#space.last();
    const placed = disk === undefined || disk.free >= 2 * BALLAST_BYTES ? this.#place() : 'not tried';
    // The disk says that it has space, and a quota is used up; or it says nothing, and is full.
    if (placed === 'full') this.#tight = this.#tables.reusableBytes() < BALLAST_BYTES;
    else this.#tight = placed !== 'placed' && disk !== undefined && this.#usable(disk).free < BALLAST_BYTES;
    this.#judgedUntil = now + (placed === 'full' ? QUOTA_INTERVAL : CHECK_INTERVAL);
    return this.#tight;
  }

  /**
   * Resolves to the free space: that of the disk and the unused pages of the record file, without the space for the ballast. Undefined for a disk
   * that does not report it.
   */
  async space(): Promise<Space | undefined> {
    const disk = await this.#space.now();
    return disk && this.#usable(disk);
  }

  #usable({ free, total }: Space): Space {
    const owed = this.#isThere() ? 0 : BALLAST_BYTES;
    return { free: Math.max(0, free + this.#tables.reusableBytes() - owed), total };
  }

  /** A file that cannot be looked at counts as there: the rights on the folder may come back. */
  #isThere(): boolean {
    try {
      return statSync(this.#file, { throwIfNoEntry: false })?.size === BALLAST_BYTES;
    } catch {
      return true;
    }
  }

  #place(): 'placed' | 'full' | 'failed' {
    let file: number | undefined;
    try {
      file = openSync(this.#file, 'w', 0o600);
      keepOwner(this.#file);
      for (let at = 0; at < BALLAST_BYTES; at += CHUNK.length) writeSync(file, CHUNK, 0, CHUNK.length, at);
      return this.#isThere() ? 'placed' : 'failed';
    } catch (error) {
      // There is no space for all of it.
      this.release();
      return isNoRoom(error) ? 'full' : 'failed';
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}
