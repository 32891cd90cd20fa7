import { closeSync, openSync, statfsSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordTables } from './record-tables.ts';

/** A group of deletes copies some pages for each key before any is free again; this is room for thousands of them. */
const BALLAST_BYTES = 8 * 1024 * 1024;
const PIECE = Buffer.alloc(1024 * 1024);
/** How old an answer about a full disk may be, in milliseconds. */
const JUDGED_FOR = 100;

/**
 * Room on the disk for deletes. LMDB changes a page by writing a copy, so that on a full disk nothing could be deleted either: a file
 * that means nothing is given up then. While it is gone and nothing was freed, only what frees is let through.
 *
 * Every thread has one of these; the file is theirs together.
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

  /** Whether there was some to give up. */
  release(): boolean {
    this.#judged = -Infinity;
    try {
      unlinkSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether only what frees space may be written. Puts the ballast back where there is room again. */
  isTight(): boolean {
    if (this.#isThere()) return false;
    const now = performance.now();
    if (now - this.#judged < JUDGED_FOR) return this.#tight;
    this.#judged = now;
    if (freeOf(this.#folder).free >= 2 * BALLAST_BYTES && this.#place()) this.#tight = false;
    else this.#tight = this.space().free < BALLAST_BYTES;
    return this.#tight;
  }

  /** Of the file system, and of the record file: pages that were freed are written again. What is owed to the ballast is not free. */
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
      // No room for it, or none for all of it: as good as a full disk.
      this.release();
      return false;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

/** A store without ballast: for tests, and where the disk is another's care. */
export const noBallast = { release: () => false, isTight: () => false } as const;

function freeOf(folder: string): { readonly free: number; readonly total: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}
