import { closeSync, openSync, statfsSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordTables } from './record-tables.ts';

/** A group of deletes copies some pages for each key before any page is free again. This has space for thousands of keys. */
const BALLAST_BYTES = 8 * 1024 * 1024;
const PIECE = Buffer.alloc(1024 * 1024);
/** The result of a check for free space is used for this many milliseconds. */
const CHECK_INTERVAL = 100;

/**
 * Reserves disk space for deletes. LMDB changes a page by writing a copy, so a full disk could not delete either. The ballast is a file
 * of zeros that is removed when the disk is full. While it is absent and no space was freed, only batches that delete are accepted.
 *
 * Every thread has one of these objects; they share the file.
 */
export class Ballast {
  readonly #folder: string;
  readonly #file: string;
  readonly #tables: RecordTables;
  #judged = -Infinity;
  #tight = false;

  constructor(folder: string, tables: RecordTables) {
    this.#folder = folder;
    this.#file = join(folder, 'ballast');
    this.#tables = tables;
    if (!this.#isThere()) this.#place();
  }

  /** Removes the ballast. Returns false if there was none. */
  release(): boolean {
    this.#judged = -Infinity;
    try {
      unlinkSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }

  /** Returns true while only batches that free space may be written. Restores the ballast when there is space again. */
  isTight(): boolean {
    if (this.#isThere()) return false;
    const now = performance.now();
    if (now - this.#judged < CHECK_INTERVAL) return this.#tight;
    this.#judged = now;
    if (freeOf(this.#folder).free >= 2 * BALLAST_BYTES && this.#place()) this.#tight = false;
    else this.#tight = this.space().free < BALLAST_BYTES;
    return this.#tight;
  }

  /** Returns the free space: that of the disk and the unused pages of the record file, without the space for the ballast. */
  space(): { readonly free: number; readonly total: number } {
    const { free, total } = freeOf(this.#folder);
    const owed = this.#isThere() ? 0 : BALLAST_BYTES;
    return { free: Math.max(0, free + this.#tables.reusableBytes() - owed), total };
  }

  #isThere(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.size === BALLAST_BYTES;
  }

  #place(): boolean {
    let file: number | undefined;
    try {
      file = openSync(this.#file, 'w', 0o600);
      for (let at = 0; at < BALLAST_BYTES; at += PIECE.length) writeSync(file, PIECE, 0, PIECE.length, at);
      return this.#isThere();
    } catch {
      // There is no space for all of it.
      this.release();
      return false;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

/** A store without ballast, for tests and read-only tools. */
export const noBallast = { release: () => false, isTight: () => false } as const;

function freeOf(folder: string): { readonly free: number; readonly total: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}
