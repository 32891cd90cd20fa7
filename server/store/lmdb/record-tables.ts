import type { Database, RootDatabase } from 'lmdb';
import { isOfGivenUpFile } from './errors.ts';
import type { Entry, Key } from '../record-store.ts';

/**
 * A stored record begins with 8 bytes of revision, big-endian. The value follows. The record of a large value holds its beginning, and
 * chunks in a table of their own hold the rest.
 */
export const REVISION_BYTES = 8;
const HIGH = 2 ** 32;

/**
 * The maximum size of a chunk: it fits in one page of LMDB with the 24 bytes of the page header. A larger one would need adjacent pages,
 * and the file would fragment: its holes would be too small for one value and too many to search for another.
 */
const CHUNK_BYTES = 4072;
/** The mark of a chunked value, in the first byte of the record. Revisions are below 2^53 and leave that bit free. */
const IN_CHUNKS = 0x80;
/** The header of a chunked value: the revision, the length of the value (4 bytes), and the index of the record in its batch (4 bytes). */
const HEAD_BYTES = REVISION_BYTES + 8;

/** A value in stored form. `record` has space for the revision, which is known only inside the transaction. */
export interface Stored {
  readonly record: Buffer;
  /** The rest of a large value, one page each. */
  readonly chunks: readonly Buffer[];
}

/** Copies a value into its stored form. `index` is the index of the record in its batch, which is part of the keys of its chunks. */
export function storedOf(value: Buffer, index: number): Stored {
  if (REVISION_BYTES + value.length <= CHUNK_BYTES) {
    const record = Buffer.allocUnsafe(REVISION_BYTES + value.length);
    value.copy(record, REVISION_BYTES);
    return { record, chunks: [] };
  }
  const count = Math.ceil((value.length - (CHUNK_BYTES - HEAD_BYTES)) / CHUNK_BYTES);
  // The number of bytes in the record itself. It is small for most values, so that the record fits in the page of its key.
  const beside = Math.max(0, value.length - count * CHUNK_BYTES);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + value.length);
  bytes.writeUInt32BE(value.length, REVISION_BYTES);
  bytes.writeUInt32BE(index, REVISION_BYTES + 4);
  value.copy(bytes, HEAD_BYTES);
  const start = HEAD_BYTES + beside;
  const chunks = Array.from({ length: count }, (_, chunk) =>
    bytes.subarray(start + chunk * CHUNK_BYTES, start + (chunk + 1) * CHUNK_BYTES),
  );
  return { record: bytes.subarray(0, start), chunks };
}

function setRevision({ record, chunks }: Stored, revision: number): void {
  writeRevision(record, revision);
  if (chunks.length > 0) record[0] = IN_CHUNKS;
}

function writeRevision(bytes: Buffer, revision: number): void {
  // Two halves avoid a BigInt for each record that is written or read.
  bytes.writeUInt32BE(Math.floor(revision / HIGH), 0);
  bytes.writeUInt32BE(revision % HIGH, 4);
}

export function revisionOf(record: Buffer): number {
  return (record.readUInt32BE(0) & 0x7fffffff) * HIGH + record.readUInt32BE(4);
}

/** The record that a change replaced. */
export interface Replaced {
  readonly revision: number;
  /** The length of its value. */
  readonly length: number;
}

/** The header of a chunked value. */
interface Parts {
  readonly revision: number;
  readonly index: number;
  /** The length of the whole value. */
  readonly length: number;
  /** The offset of the value's beginning in the record. */
  readonly start: number;
}

/** Returns undefined for a value that is whole in its record. */
export function partsOf(record: Buffer): Parts | undefined {
  if (((record[0] ?? 0) & IN_CHUNKS) === 0) return undefined;
  const length = record.readUInt32BE(REVISION_BYTES);
  return { revision: revisionOf(record), index: record.readUInt32BE(REVISION_BYTES + 4), length, start: HEAD_BYTES };
}

/** Returns the number of chunks of a value whose record has `size` bytes. */
function chunkCount({ length, start }: Parts, size: number): number {
  return Math.ceil((length - (size - start)) / CHUNK_BYTES);
}

/** Wraps what lmdb-js returns. A large value is a view of LMDB's map whose `length` may be too large; `size` is the size of the record. */
export function asBuffer(stored: Uint8Array, size: number): Buffer {
  return Buffer.isBuffer(stored) ? stored : Buffer.from(stored.buffer, stored.byteOffset, size);
}

/** `lastSize` is the size of the last read value. The types of lmdb-js do not have it. */
type Table = Database<Buffer, Buffer> & { readonly lastSize: number };

/** The key of a chunk: the revision (8 bytes), the index of the record in its batch (4), and the number of the chunk (4). */
const CHUNK_KEY_BYTES = 16;

/** The page counts of one of LMDB's trees. */
interface Tree {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** No record has it. */
const ANY_KEY = Buffer.from([0]);

/** The table of records and the table of the chunks of large ones. Methods that write are for use within a transaction. */
export class RecordTables {
  readonly #records: Table;
  readonly #chunks: Table;
  /** lmdb-js copies a key before it returns. */
  readonly #chunkKey = Buffer.alloc(CHUNK_KEY_BYTES);

  constructor(root: RootDatabase<Buffer, Buffer>) {
    const table = (name: string) =>
      root.openDB<Buffer, Buffer>({ name, keyEncoding: 'binary', encoding: 'binary', cache: false }) as Table;
    this.#records = table('records');
    this.#chunks = table('pieces');
  }

  /** Starts a new read transaction. lmdb-js keeps one for a turn of the event loop; it does not show later commits of other threads. */
  freshSnapshot(): void {
    this.#records.resetReadTxn();
  }

  /** Returns true if LMDB has given up the file: it refuses every transaction until the process opens the file again. */
  isGivenUp(): boolean {
    try {
      this.freshSnapshot();
      this.#read(this.#records, ANY_KEY);
      return false;
    } catch (error) {
      return isOfGivenUpFile(error);
    }
  }

  get(key: Key): Entry | undefined {
    const record = this.#read(this.#records, key);
    if (record === undefined) return undefined;
    const size = this.#records.lastSize;
    const revision = revisionOf(record);
    const parts = partsOf(record);
    // The pool is faster: separate memory for each small record cost more than reading it.
    const value = Buffer.allocUnsafe(parts?.length ?? size - REVISION_BYTES);
    const copied = record.copy(value, 0, parts?.start ?? REVISION_BYTES, size);
    if (parts !== undefined) this.copyChunks(parts, value, copied);
    return { key, value, revision };
  }

  revision(key: Key): number | undefined {
    const record = this.#read(this.#records, key);
    return record && revisionOf(record);
  }

  /** Completes a value whose first `copied` bytes are copied already. */
  copyChunks(parts: Parts, value: Buffer, copied: number): void {
    let at = copied;
    for (let chunk = 0; at < parts.length; chunk += 1) {
      const bytes = this.#read(this.#chunks, this.#keyOf(parts, chunk));
      if (bytes === undefined) {
        throw new Error(
          `the record file is damaged: piece ${chunk} of the record of revision ${parts.revision} is missing; restore a snapshot`,
        );
      }
      at += bytes.copy(value, at, 0, this.#chunks.lastSize);
    }
  }

  /** Returns what the record replaced. */
  put(key: Key, stored: Stored, revision: number): Replaced | undefined {
    const replaced = this.#removeChunks(key);
    setRevision(stored, revision);
    // Inside a transaction lmdb-js writes synchronously and throws on failure, so the promise is not needed.
    void this.#records.put(key, stored.record);
    const parts = partsOf(stored.record);
    if (parts === undefined) return replaced;
    for (const [chunk, bytes] of stored.chunks.entries()) void this.#chunks.put(this.#keyOf(parts, chunk), bytes);
    return replaced;
  }

  /** Returns what was removed. */
  remove(key: Key): Replaced | undefined {
    const replaced = this.#removeChunks(key);
    if (replaced !== undefined) void this.#records.remove(key);
    return replaced;
  }

  /** Yields the keys of all records, with their revisions and the lengths of their values. The next step overwrites the key. */
  *lengths(): Generator<{ readonly key: Key } & Replaced> {
    for (const { key, value } of this.#records.getRange({})) {
      yield { key, ...(partsOf(value) ?? { revision: revisionOf(value), length: value.length - REVISION_BYTES }) };
    }
  }

  /** Returns the size of the unused pages of the file: all pages that were ever used, except those of the four trees. */
  reusableBytes(): number {
    const stats = this.#records.getStats() as Tree & {
      readonly root: Tree;
      readonly free: Tree;
      readonly lastPageNumber: number;
      readonly pageSize: number;
    };
    const trees = [stats, this.#chunks.getStats() as Tree, stats.root, stats.free];
    const used = trees.reduce(
      (sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
      0,
    );
    return Math.max(0, stats.lastPageNumber + 1 - used) * stats.pageSize;
  }

  #removeChunks(key: Key): Replaced | undefined {
    const record = this.#read(this.#records, key);
    if (record === undefined) return undefined;
    const parts = partsOf(record);
    if (parts === undefined) return { revision: revisionOf(record), length: this.#records.lastSize - REVISION_BYTES };
    const count = chunkCount(parts, this.#records.lastSize);
    for (let chunk = 0; chunk < count; chunk += 1) void this.#chunks.remove(this.#keyOf(parts, chunk));
    return parts;
  }

  /** Reads into memory that the next read overwrites. `getBinary` would allocate a buffer. */
  #read(table: Table, key: Buffer): Buffer | undefined {
    const stored: Uint8Array | undefined = table.getBinaryFast(key);
    return stored && asBuffer(stored, table.lastSize);
  }

  #keyOf({ revision, index }: Parts, chunk: number): Buffer {
    const key = this.#chunkKey;
    writeRevision(key, revision);
    key.writeUInt32BE(index, 8);
    key.writeUInt32BE(chunk, 12);
    return key;
  }
}
