/**
 * The counts of a group of records: those of one kind, and of one bucket where the kind has many. An engine changes them in the commit that
 * changes the records, so that a page that the disk lost, or brought back from yesterday, shows in them.
 */
export interface RecordCount {
  /** The prefix of the keys of the group. */
  readonly group: Buffer;
  readonly records: number;
  /** The bytes of the values. */
  readonly bytes: number;
  /** Two sums over the hashes of all keys with their revisions, in any order. */
  readonly sums: Sums;
}

type Sums = readonly [number, number];

const [o, v, l, i, m, w] = Buffer.from('ovlimw');
/** The kinds of records of which each bucket has many. */
const byBucket: readonly (number | undefined)[] = [o, v, l, i, m, w];

/** Returns the length of the prefix that names the group of a key. */
function groupLength(key: Buffer): number {
  const first = key.indexOf(0) + 2;
  // Zero bytes inside a part are followed by another byte than the end of a part: such a kind does not exist.
  if (first < 2) return key.length;
  if (first !== 3 || !byBucket.includes(key[0])) return first;
  const second = key.indexOf(0, first) + 2;
  return second < 2 ? key.length : second;
}

/** Returns the prefix that names the group of a key. */
export function groupOf(key: Buffer): Buffer {
  return key.subarray(0, groupLength(key));
}

/** Adds up records by their groups. */
export class RecordTally {
  readonly #groups = new Map<string, { records: number; bytes: number; one: number; other: number }>();

  add(key: Buffer, revision: number, bytes: number): void {
    this.#change(key, revision, bytes, 1);
  }

  remove(key: Buffer, revision: number, bytes: number): void {
    this.#change(key, revision, bytes, -1);
  }

  counts(): readonly RecordCount[] {
    return [...this.#groups].map(([group, { records, bytes, one, other }]) => ({
      group: Buffer.from(group, 'latin1'),
      records,
      bytes,
      sums: [one, other],
    }));
  }

  #change(key: Buffer, revision: number, bytes: number, sign: 1 | -1): void {
    const sum = this.#group(key.toString('latin1', 0, groupLength(key)));
    let one = 0x811c9dc5;
    let other = 0x9747b28c;
    // A loop: keys are short, and a call of a hash costs more than all of it.
    for (let at = 0; at < key.length; at += 1) {
      const byte = key[at] ?? 0;
      one = Math.imul(one ^ byte, 0x01000193);
      other = Math.imul((other << 5) ^ (other >>> 27) ^ byte, 0x85ebca6b);
    }
    const [high, low] = [Math.floor(revision / 2 ** 32), revision >>> 0];
    sum.records += sign;
    sum.bytes += sign * bytes;
    sum.one = (sum.one + sign * mixed(one, high, low)) >>> 0;
    sum.other = (sum.other + sign * mixed(other, low, high)) >>> 0;
  }

  #group(name: string) {
    const found = this.#groups.get(name);
    if (found !== undefined) return found;
    const made = { records: 0, bytes: 0, one: 0, other: 0 };
    this.#groups.set(name, made);
    return made;
  }
}

/** Spreads the bits of a hash and two numbers, so that the sums of other records do not meet by chance. */
function mixed(hash: number, first: number, second: number): number {
  let bits = hash ^ Math.imul(first, 0xcc9e2d51) ^ Math.imul(second, 0x1b873593);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const NUMBERS = 24;

export function encodeCount({ records, bytes, sums }: Omit<RecordCount, 'group'>): Buffer {
  const value = Buffer.alloc(NUMBERS);
  value.writeDoubleBE(records, 0);
  value.writeDoubleBE(bytes, 8);
  value.writeUInt32BE(sums[0], 16);
  value.writeUInt32BE(sums[1], 20);
  return value;
}

export function decodeCount(value: Buffer): Omit<RecordCount, 'group'> {
  return {
    records: value.readDoubleBE(0),
    bytes: value.readDoubleBE(8),
    sums: [value.readUInt32BE(16), value.readUInt32BE(20)],
  };
}

export function sumOf(one: Omit<RecordCount, 'group'>, other: Omit<RecordCount, 'group'>): Omit<RecordCount, 'group'> {
  return {
    records: one.records + other.records,
    bytes: one.bytes + other.bytes,
    sums: [(one.sums[0] + other.sums[0]) >>> 0, (one.sums[1] + other.sums[1]) >>> 0],
  };
}

export function isSameCount(one: Omit<RecordCount, 'group'>, other: Omit<RecordCount, 'group'>): boolean {
  return encodeCount(one).equals(encodeCount(other));
}
