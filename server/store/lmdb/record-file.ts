import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Looks at a record file without LMDB, which ends the process (SIGSEGV, SIGBUS, an assertion) where it meets a damaged page. LMDB keeps no
 * checksums, but each page has its own number, and each tree counts its pages and its entries: a page that was lost, cut, overwritten or
 * swapped shows in them. The file must not change meanwhile.
 * @see https://github.com/kriszyp/lmdb-js/blob/master/dependencies/lmdb/libraries/liblmdb/mdb.c
 */
export function damageOfRecordFile(path: string, options: { readonly leaves?: boolean } = {}): string | undefined {
  const file = openSync(path, 'r');
  try {
    new RecordFile(file, options.leaves ?? true).check();
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

class Damage extends Error {}

const MAGIC = 0xbeefc0de;
const VERSION = 2;
/** Page header: number (8 bytes), transaction (8), pad (2), flags (2), lower (2) and upper (2), or the count of overflow pages (4). */
const HEADER = 24;
const TRANSACTION = 8;
const FLAGS = 18;
const LOWER = 20;
const UPPER = 22;
const OVERFLOW_PAGES = 20;
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;
const KINDS = BRANCH | LEAF | OVERFLOW | META;
/** Node header: size or page (4 bytes), flags (2), size of the key (2). */
const NODE = 8;
const BIG_DATA = 0x01;
const SUB_DATA = 0x02;
/** The description of a tree: pad (4), flags (2), depth (2), then 8 bytes each of branch, leaf and overflow pages, entries, and root. */
const TREE = 48;
/** In a meta page, after the page header: magic (4), version (4), address (8), size of the map (8), two trees, last page (8), transaction (8). */
const META_TREES = HEADER + 24;
const TREE_FLAGS = 4;
const META_LAST = META_TREES + 2 * TREE;
const META_END = META_LAST + 16;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const MIN_PAGE = 512;
const MAX_PAGE = 65_536;
const HEADS = 2;

/** The name of the tree of unused pages. */
const UNUSED = 'unused pages';

interface Tree {
  readonly name: string;
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: bigint;
}

interface Meta {
  readonly pageSize: number;
  readonly last: number;
  readonly transaction: bigint;
  readonly free: Tree;
  readonly main: Tree;
}

/** A page to look at, with the keys that it may have. */
interface Place {
  readonly page: number;
  readonly level: number;
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

interface Node {
  readonly key: Buffer;
  readonly flags: number;
  readonly size: number;
  /** The page of a branch's node. */
  readonly page: number;
  readonly data: number;
}

class RecordFile {
  readonly #file: number;
  readonly #size: number;
  readonly #withLeaves: boolean;
  #pageSize = 4_096;
  #last = 0;
  #transaction = 0n;
  #seen = new Uint8Array(0);
  /** The pages of the lists of unused pages. */
  readonly #unused: { readonly from: number; readonly to: number; readonly what: string }[] = [];

  constructor(file: number, withLeaves: boolean) {
    this.#file = file;
    this.#size = fstatSync(file).size;
    this.#withLeaves = withLeaves;
  }

  check(): void {
    if (this.#size === 0) throw new Damage('it is empty');
    const first = this.#meta(0);
    this.#pageSize = first.pageSize;
    const second = this.#meta(1);
    const isSame = ({ free, main }: Meta) => free.flags === first.free.flags && main.flags === first.main.flags;
    if (second.pageSize !== first.pageSize || !isSame(second)) throw new Damage('its two heads contradict each other');
    const meta = second.transaction > first.transaction ? second : first;
    this.#last = meta.last;
    this.#transaction = meta.transaction;
    if (meta.last * this.#pageSize > Number.MAX_SAFE_INTEGER || meta.last < 1) throw new Damage('its head is damaged');
    // Unused pages at the end may be missing, and one that is used is noticed where it is.
    this.#seen = new Uint8Array(Math.ceil((Math.min(meta.last, this.#size / this.#pageSize) + 1) / 8));
    this.#tree(meta.free);
    for (const tree of this.#tree(meta.main)) this.#tree(tree);
    this.#checkUnused();
  }

  #meta(page: number): Meta {
    const bytes = this.#read(page, Math.min(this.#pageSize, 4_096), `head ${page + 1}`);
    const what = `head ${page + 1} of ${HEADS} (page ${page})`;
    if (Number(bytes.readBigUInt64LE(0)) !== page || (bytes.readUInt16LE(FLAGS) & META) === 0) {
      throw new Damage(`${what} is overwritten`);
    }
    if (bytes.readUInt32LE(HEADER) !== MAGIC || bytes.length < META_END)
      throw new Damage(`${what} is not that of a record file`);
    if (bytes.readUInt32LE(HEADER + 4) !== VERSION) throw new Damage(`${what} has an unknown version`);
    const pageSize = bytes.readUInt32LE(META_TREES);
    if (pageSize < MIN_PAGE || pageSize > MAX_PAGE || (pageSize & (pageSize - 1)) !== 0)
      throw new Damage(`${what} is damaged`);
    return {
      pageSize,
      last: Number(bytes.readBigUInt64LE(META_LAST)),
      transaction: bytes.readBigUInt64LE(META_LAST + 8),
      free: treeAt(bytes, META_TREES, UNUSED),
      main: treeAt(bytes, META_TREES + TREE, 'tables'),
    };
  }

  /** Walks through a tree. Returns the trees in it. */
  #tree(tree: Tree): readonly Tree[] {
    const found = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    const inner: Tree[] = [];
    if (tree.root === NO_PAGE) {
      if (tree.entries !== 0)
        throw new Damage(`the tree of ${tree.name} has lost its root, and ${tree.entries} entries`);
      return inner;
    }
    const open: Place[] = [{ page: this.#pageNumber(tree.root, tree), level: 1, from: undefined, to: undefined }];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const isLeaf = place.level === tree.depth;
      if (isLeaf && !this.#withLeaves && tree.name === 'records') {
        found.leaves += 1;
        this.#claim(place.page, `page ${place.page}, a leaf of ${tree.name},`);
        continue;
      }
      const what = `page ${place.page}, a ${isLeaf ? 'leaf' : 'branch'} of ${tree.name},`;
      const bytes = this.#page(place.page, isLeaf ? LEAF : BRANCH, what);
      const nodes = nodesOf(bytes, isLeaf, what);
      checkOrder(nodes, place, isLeaf, what, tree.name === UNUSED ? compareNumbers : compareBytes);
      if (!isLeaf) {
        found.branches += 1;
        for (const [at, node] of nodes.entries()) {
          open.push({
            page: this.#pageNumber(BigInt(node.page), tree),
            level: place.level + 1,
            from: at === 0 ? place.from : node.key,
            to: nodes[at + 1]?.key ?? place.to,
          });
        }
        continue;
      }
      found.leaves += 1;
      found.entries += nodes.length;
      for (const node of nodes) {
        if (tree.name === UNUSED) this.#list(bytes, node, what);
        if ((node.flags & BIG_DATA) !== 0) found.overflows += this.#overflow(bytes, node, tree);
        if ((node.flags & SUB_DATA) !== 0) {
          if (node.size !== TREE) throw new Damage(`${what} is overwritten`);
          inner.push(treeAt(bytes, node.data, node.key.toString().replace(/\0+$/, '')));
        }
      }
    }
    this.#compare(tree, found);
    return inner;
  }

  #compare(tree: Tree, found: Omit<Tree, 'name' | 'flags' | 'root' | 'depth'>): void {
    const counts =
      this.#withLeaves || tree.name !== 'records'
        ? (['entries', 'leaves', 'branches', 'overflows'] as const)
        : (['leaves', 'branches'] as const);
    for (const count of counts) {
      // Of large lists of unused pages, LMDB counts what they needed at first.
      if (tree.name === UNUSED && count === 'overflows') continue;
      if (found[count] !== tree[count]) {
        throw new Damage(
          `the tree of ${tree.name} has ${found[count]} ${names[count]}, and its head says ${tree[count]}`,
        );
      }
    }
  }

  #overflow(bytes: Buffer, node: Node, tree: Tree): number {
    if (node.data + 8 > bytes.length) throw new Damage(`a large value of ${tree.name} has no place`);
    const page = this.#pageNumber(bytes.readBigUInt64LE(node.data), tree);
    const what = `page ${page}, a large value of ${tree.name},`;
    const head = this.#page(page, OVERFLOW, what);
    const pages = head.readUInt32LE(OVERFLOW_PAGES);
    // LMDB reserves more pages for a list of unused ones than it fills. The list is not data, and its other pages are not looked at.
    const least = Math.ceil((node.size + HEADER) / this.#pageSize);
    if (tree.name === UNUSED ? pages < 1 : pages !== least) throw new Damage(`${what} is overwritten`);
    if (tree.name === UNUSED) return pages;
    if ((page + pages) * this.#pageSize > this.#size) throw new Damage(`${what} is cut off`);
    for (let more = page + 1; more < page + pages; more += 1) this.#claim(more, what);
    return pages;
  }

  /**
   * Reads a list of unused pages: a count, and that many numbers of 8 bytes. LMDB writes to these pages, and trusts the count. A number below zero is the
   * length of a block whose first page follows, and a zero is a gap.
   */
  #list(leaf: Buffer, node: Node, what: string): void {
    if (
      node.key.length !== 8 ||
      node.key.readBigUInt64LE(0) === 0n ||
      node.key.readBigUInt64LE(0) > this.#transaction
    ) {
      throw new Damage(`${what} has keys that do not belong there`);
    }
    const isLarge = (node.flags & BIG_DATA) !== 0;
    const at = isLarge ? leaf.readBigUInt64LE(node.data) : 0n;
    if (at > BigInt(this.#last)) throw new Damage(`${what} refers to page ${at}, which does not exist`);
    const bytes = isLarge
      ? this.#read(Number(at), HEADER + node.size, what).subarray(HEADER)
      : leaf.subarray(node.data, node.data + node.size);
    const count = bytes.length < 8 ? 0n : bytes.readBigUInt64LE(0);
    if (count === 0n ? bytes.length < 8 : count > BigInt(Math.floor(bytes.length / 8) - 1)) {
      throw new Damage(`${what} has a list with a wrong count`);
    }
    let length = 1n;
    for (let item = 1; item <= Number(count); item += 1) {
      const number = bytes.readBigInt64LE(item * 8);
      if (number <= 0n) {
        length = number === 0n ? 1n : -number;
        continue;
      }
      if (number < BigInt(HEADS) || number + length - 1n > BigInt(this.#last)) {
        throw new Damage(`${what} lists page ${number} as unused, which does not exist`);
      }
      this.#unused.push({ from: Number(number), to: Number(number + length), what });
      length = 1n;
    }
  }

  /** A page that a tree uses and a list names would be overwritten by the next commits. */
  #checkUnused(): void {
    for (const { from, to, what } of this.#unused) {
      for (let page = from; page < to; page += 1) {
        if (this.#isSeen(page)) throw new Damage(`${what} lists page ${page} as unused, which is in use`);
      }
    }
  }

  #pageNumber(page: bigint, { name }: Tree): number {
    if (page < BigInt(HEADS) || page > BigInt(this.#last))
      throw new Damage(`the tree of ${name} refers to page ${page}, which does not exist`);
    return Number(page);
  }

  #page(page: number, kind: number, what: string): Buffer {
    const bytes = this.#read(page, this.#pageSize, what);
    if (Number(bytes.readBigUInt64LE(0)) !== page) {
      throw new Damage(`${what} ${bytes.every((byte) => byte === 0) ? 'is zeros' : 'has the number of another page'}`);
    }
    // LMDB takes such a page for one of its memory.
    if (bytes.readBigUInt64LE(TRANSACTION) > this.#transaction)
      throw new Damage(`${what} is of a commit that never was`);
    if ((bytes.readUInt16LE(FLAGS) & KINDS) !== kind) throw new Damage(`${what} is a page of another kind`);
    this.#claim(page, what);
    return bytes;
  }

  #claim(page: number, what: string): void {
    if (this.#isSeen(page)) throw new Damage(`${what} is used twice`);
    const at = page >>> 3;
    this.#seen[at] = (this.#seen[at] ?? 0) | (1 << (page & 7));
  }

  #isSeen(page: number): boolean {
    return ((this.#seen[page >>> 3] ?? 0) & (1 << (page & 7))) !== 0;
  }

  #read(page: number, length: number, what: string): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const count = readSync(this.#file, bytes, done, length - done, page * this.#pageSize + done);
      if (count === 0) throw new Damage(`${what} is cut off: the file ends at byte ${this.#size}`);
      done += count;
    }
    return bytes;
  }
}

const names = {
  entries: 'entries',
  leaves: 'leaf pages',
  branches: 'branch pages',
  overflows: 'pages of large values',
} as const;

function treeAt(bytes: Buffer, at: number, name: string): Tree {
  const number = (offset: number) => Number(bytes.readBigUInt64LE(at + offset));
  return {
    name,
    flags: bytes.readUInt16LE(at + TREE_FLAGS),
    depth: bytes.readUInt16LE(at + 6),
    branches: number(8),
    leaves: number(16),
    overflows: number(24),
    entries: number(32),
    root: bytes.readBigUInt64LE(at + 40),
  };
}

/** Returns the nodes of a page. Those of a branch have a page instead of data. */
function nodesOf(bytes: Buffer, isLeaf: boolean, what: string): readonly Node[] {
  const [lower, upper] = [bytes.readUInt16LE(LOWER), bytes.readUInt16LE(UPPER)];
  const space = bytes.length - HEADER;
  if (lower % 2 !== 0 || lower > upper || upper > space || lower === 0) throw new Damage(`${what} is overwritten`);
  const nodes: Node[] = [];
  let filled = 0;
  for (let at = 0; at < lower; at += 2) {
    const start = bytes.readUInt16LE(HEADER + at);
    if (start < upper || start + NODE > space) throw new Damage(`${what} is overwritten`);
    const node = HEADER + start;
    const flags = bytes.readUInt16LE(node + 4);
    const keySize = bytes.readUInt16LE(node + 6);
    const data = node + NODE + keySize;
    const low = bytes.readUInt32LE(node);
    const inPage = isLeaf ? ((flags & BIG_DATA) === 0 ? low : 8) : 0;
    if (data + inPage > bytes.length || (isLeaf && (flags & ~(BIG_DATA | SUB_DATA)) !== 0))
      throw new Damage(`${what} is overwritten`);
    filled += even(NODE + keySize + inPage);
    nodes.push({
      key: bytes.subarray(node + NODE, data),
      flags: isLeaf ? flags : 0,
      size: low,
      page: low + flags * 2 ** 32,
      data,
    });
  }
  // LMDB leaves gaps between nodes, and no node within another.
  if (filled > space - upper) throw new Damage(`${what} is overwritten`);
  return nodes;
}

function even(size: number): number {
  return size + (size % 2);
}

/** The first node of a branch stands for all keys below the second. */
function checkOrder(
  nodes: readonly Node[],
  { from, to }: Place,
  isLeaf: boolean,
  what: string,
  compare: (one: Buffer, other: Buffer) => number,
): void {
  let last = from;
  for (const { key } of isLeaf ? nodes : nodes.slice(1)) {
    const order = last === undefined ? 1 : compare(key, last);
    if (order < 0 || (order === 0 && last !== from) || (to !== undefined && compare(key, to) >= 0)) {
      throw new Damage(`${what} has keys that do not belong there`);
    }
    last = key;
  }
}

function compareBytes(one: Buffer, other: Buffer): number {
  return one.compare(other);
}

/** The keys of the tree of unused pages are numbers of transactions. A key of another length compares as the smallest. */
function compareNumbers(one: Buffer, other: Buffer): number {
  const [first, second] = [one, other].map((key) => (key.length === 8 ? key.readBigUInt64LE(0) : -1n)) as [
    bigint,
    bigint,
  ];
  return first < second ? -1 : first > second ? 1 : 0;
}
