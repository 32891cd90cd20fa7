import type { Database, RootDatabase } from 'lmdb';
import type { Entry, Key } from '../record-store.ts';
import {
  asBuffer,
  type Parts,
  partsOf,
  pieceCount,
  REVISION_BYTES,
  revisionOf,
  setRevision,
  type Stored,
  writeRevision,
} from './stored-value.ts';

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
