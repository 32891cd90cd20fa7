import type { Database, RootDatabase } from 'lmdb';
import type { Entry, Key } from '../record-store.ts';

/** A record as LMDB keeps it: 8 bytes of revision, big-endian, then the value; or, of a large one, then what `Stored` says. */
export const REVISION_BYTES = 8;
const HIGH = 2 ** 32;

/**
 * The bytes of a value that take one page of LMDB's at most, with the 24 of its head. A value that takes more would need pages side by
 * side: then the file has holes that are too small for one value and too many to look through for another.
 */
const PIECE_BYTES = 4072;
/** In the first byte, which is of no revision: those are below 2^53. */
const IN_PIECES = 0x80;
/** Revision, length of the value (4 bytes), number of the record in its batch (4 bytes). */
const HEAD_BYTES = REVISION_BYTES + 8;

/** A value on its way: `record` has room for the revision, which is known only inside the transaction. */
export interface Stored {
  readonly record: Buffer;
  /** What does not fit beside the beginning of the value in one page, page by page. */
  readonly pieces: readonly Buffer[];
}

/** Copies the value. `index` is the place of the record in its batch, by which its pieces are found. */
export function storedOf(value: Buffer, index: number): Stored {
  if (REVISION_BYTES + value.length <= PIECE_BYTES) {
    const record = Buffer.allocUnsafe(REVISION_BYTES + value.length);
    value.copy(record, REVISION_BYTES);
    return { record, pieces: [] };
  }
  const count = Math.ceil((value.length - (PIECE_BYTES - HEAD_BYTES)) / PIECE_BYTES);
  // Little, mostly: so it stands in the page of its key.
  const beside = Math.max(0, value.length - count * PIECE_BYTES);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + value.length);
  bytes.writeUInt32BE(value.length, REVISION_BYTES);
  bytes.writeUInt32BE(index, REVISION_BYTES + 4);
  value.copy(bytes, HEAD_BYTES);
  const start = HEAD_BYTES + beside;
  const pieces = Array.from({ length: count }, (_, piece) =>
    bytes.subarray(start + piece * PIECE_BYTES, start + (piece + 1) * PIECE_BYTES),
  );
  return { record: bytes.subarray(0, start), pieces };
}

function setRevision({ record, pieces }: Stored, revision: number): void {
  writeRevision(record, revision);
  if (pieces.length > 0) record[0] = IN_PIECES;
}

/** At the beginning of `bytes`, in order. */
function writeRevision(bytes: Buffer, revision: number): void {
  // Two halves: a BigInt for each record written or read would be garbage.
  bytes.writeUInt32BE(Math.floor(revision / HIGH), 0);
  bytes.writeUInt32BE(revision % HIGH, 4);
}

export function revisionOf(record: Buffer): number {
  return (record.readUInt32BE(0) & 0x7fffffff) * HIGH + record.readUInt32BE(4);
}

/** How a value that is in pieces is put together again. */
interface Parts {
  readonly revision: number;
  readonly index: number;
  /** Bytes of the whole value. */
  readonly length: number;
  /** Where in the record its beginning stands. */
  readonly start: number;
}

/** `undefined` for a value that stands whole in its record. */
export function partsOf(record: Buffer): Parts | undefined {
  if (((record[0] ?? 0) & IN_PIECES) === 0) return undefined;
  const length = record.readUInt32BE(REVISION_BYTES);
  return { revision: revisionOf(record), index: record.readUInt32BE(REVISION_BYTES + 4), length, start: HEAD_BYTES };
}

/** How many pieces there are of a value whose record has `size` bytes. */
function pieceCount({ length, start }: Parts, size: number): number {
  return Math.ceil((length - (size - start)) / PIECE_BYTES);
}

/** Large values come as a view of LMDB's map, and `length` may be of lmdb-js' own making: `size` is what belongs to the record. */
export function asBuffer(stored: Uint8Array, size: number): Buffer {
  return Buffer.isBuffer(stored) ? stored : Buffer.from(stored.buffer, stored.byteOffset, size);
}

/** lmdb-js has them and its types do not: the size of what was read last. */
type Table = Database<Buffer, Buffer> & { readonly lastSize: number };

/** Revision (8 bytes), place in the batch (4), number of the piece (4): pieces of one commit stand side by side. */
const PIECE_KEY_BYTES = 16;

/** Pages of one of LMDB's trees. */
interface Tree {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** The records, and the pieces of large ones beside them. What writes is for within a transaction. */
export class RecordTables {
  readonly #records: Table;
  readonly #pieces: Table;
  /** lmdb-js copies a key before it returns. */
  readonly #pieceKey = Buffer.alloc(PIECE_KEY_BYTES);

  constructor(root: RootDatabase<Buffer, Buffer>) {
    const table = (name: string) =>
      root.openDB<Buffer, Buffer>({ name, keyEncoding: 'binary', encoding: 'binary', cache: false }) as Table;
    this.#records = table('records');
    this.#pieces = table('pieces');
  }

  /** A thread's read transaction is kept until its next turn and does not show what other threads committed since. */
  freshSnapshot(): void {
    this.#records.resetReadTxn();
  }

  get(key: Key): Entry | undefined {
    const record = this.#read(this.#records, key);
    if (record === undefined) return undefined;
    const size = this.#records.lastSize;
    const revision = revisionOf(record);
    const parts = partsOf(record);
    // Out of the pool: memory of its own for each small record cost more than reading it.
    const value = Buffer.allocUnsafe(parts?.length ?? size - REVISION_BYTES);
    const copied = record.copy(value, 0, parts?.start ?? REVISION_BYTES, size);
    if (parts !== undefined) this.copyPieces(parts, value, copied);
    return { key, value, revision };
  }

  revision(key: Key): number | undefined {
    const record = this.#read(this.#records, key);
    return record && revisionOf(record);
  }

  /** Copies what is missing of a value whose first `copied` bytes are there. */
  copyPieces(parts: Parts, value: Buffer, copied: number): void {
    let at = copied;
    for (let piece = 0; at < parts.length; piece += 1) {
      const bytes = this.#read(this.#pieces, this.#keyOf(parts, piece));
      if (bytes === undefined) {
        throw new Error(
          `the record file is damaged: piece ${piece} of the record of revision ${parts.revision} is missing; restore a snapshot`,
        );
      }
      at += bytes.copy(value, at, 0, this.#pieces.lastSize);
    }
  }

  put(key: Key, stored: Stored, revision: number): void {
    this.#removePieces(key);
    setRevision(stored, revision);
    // Inside a transaction lmdb-js writes at once and throws what goes wrong; its promise says nothing more.
    void this.#records.put(key, stored.record);
    const parts = partsOf(stored.record);
    if (parts === undefined) return;
    for (const [piece, bytes] of stored.pieces.entries()) void this.#pieces.put(this.#keyOf(parts, piece), bytes);
  }

  remove(key: Key): void {
    this.#removePieces(key);
    void this.#records.remove(key);
  }

  /** Bytes of pages in the file that nothing is in: all that were ever used but those of the four trees. */
  reusableBytes(): number {
    const stats = this.#records.getStats() as Tree & {
      readonly root: Tree;
      readonly free: Tree;
      readonly lastPageNumber: number;
      readonly pageSize: number;
    };
    const trees = [stats, this.#pieces.getStats() as Tree, stats.root, stats.free];
    const used = trees.reduce(
      (sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
      0,
    );
    return Math.max(0, stats.lastPageNumber + 1 - used) * stats.pageSize;
  }

  #removePieces(key: Key): void {
    const record = this.#read(this.#records, key);
    const parts = record && partsOf(record);
    if (parts === undefined) return;
    const count = pieceCount(parts, this.#records.lastSize);
    for (let piece = 0; piece < count; piece += 1) void this.#pieces.remove(this.#keyOf(parts, piece));
  }

  /** Into memory that the next read uses again: `getBinary` would make a buffer of its own. */
  #read(table: Table, key: Buffer): Buffer | undefined {
    const stored: Uint8Array | undefined = table.getBinaryFast(key);
    return stored && asBuffer(stored, table.lastSize);
  }

  #keyOf({ revision, index }: Parts, piece: number): Buffer {
    const key = this.#pieceKey;
    writeRevision(key, revision);
    key.writeUInt32BE(index, 8);
    key.writeUInt32BE(piece, 12);
    return key;
  }
}
