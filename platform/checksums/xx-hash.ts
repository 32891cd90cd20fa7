import { BLOCK, PRIME32, PRIME64, SECRET, STRIPE, STRIPE64, xxHashModule } from './xx-hash-module.ts';

/**
 * XXH64, and XXH3 of 64 and 128 bits, without a seed and with the default secret, as S3 has them.
 *
 * @see https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */

const [P1, P2, P3, P4, P5] = PRIME64;
const MIX_1 = 0x165667919e3779f9n;
const MIX_2 = 0x9fb21c651e98df25n;

const u64 = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint) => u64(value << bits) | (value >> (64n - bits));
const folded = (product: bigint) => u64(product) ^ (product >> 64n);
const secret64 = (at: number) => SECRET.readBigUInt64LE(at);
const secretPair = (at: number) => secret64(at) ^ secret64(at + 8);
const secret32 = (at: number) => BigInt(SECRET.readUInt32LE(at) ^ SECRET.readUInt32LE(at + 4)) & 0xffff_ffffn;

function swapped(value: bigint, bytes: 4 | 8): bigint {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(value);
  return buffer.readBigUInt64BE() >> BigInt(64 - 8 * bytes);
}

/** 64 bits each, the highest first, as S3 writes them in base64. */
function bigEndian(...words: readonly bigint[]): Buffer {
  const digest = Buffer.alloc(8 * words.length);
  for (const [at, word] of words.entries()) digest.writeBigUInt64BE(word, 8 * at);
  return digest;
}

/** Gives whole blocks to `consume`, and keeps the last one, or what there is of it, until more follows. */
class PendingBlock {
  readonly #bytes: Buffer;
  readonly #consume: (blocks: Uint8Array) => void;
  #used = 0;
  /** The count of all bytes. */
  size = 0;

  constructor(block: number, consume: (blocks: Uint8Array) => void) {
    this.#bytes = Buffer.allocUnsafe(block);
    this.#consume = consume;
  }

  add(bytes: Uint8Array): void {
    this.size += bytes.length;
    for (let rest = bytes; rest.length > 0;) {
      if (this.#used === this.#bytes.length) {
        this.#consume(this.#bytes);
        this.#used = 0;
      }
      const last = rest.length - 1;
      const whole = this.#used === 0 ? last - (last % this.#bytes.length) : 0;
      if (whole > 0) this.#consume(rest.subarray(0, whole));
      const kept = rest.subarray(whole, whole + this.#bytes.length - this.#used);
      this.#bytes.set(kept, this.#used);
      this.#used += kept.length;
      rest = rest.subarray(whole + kept.length);
    }
  }

  rest(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }
}

const round64 = (state: bigint, word: bigint) => u64(rotate(u64(state + word * P2), 31n) * P1);

function avalanche64(value: bigint): bigint {
  let hash = u64((value ^ (value >> 33n)) * P2);
  hash = u64((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}

/** A checksum in progress. */
export class XxHash64 {
  readonly #state = BigUint64Array.of(u64(P1 + P2), P2, 0n, u64(-P1));
  readonly #pending = new PendingBlock(STRIPE64, (stripes) => {
    xxHashModule().addStripes64(this.#state, stripes);
  });

  update(bytes: Uint8Array): void {
    this.#pending.add(bytes);
  }

  digest(): Buffer {
    let rest = this.#pending.rest();
    if (rest.length === STRIPE64) {
      xxHashModule().addStripes64(this.#state, rest);
      rest = rest.subarray(STRIPE64);
    }
    let hash = u64((this.#pending.size < STRIPE64 ? P5 : this.#merged()) + BigInt(this.#pending.size));
    let at = 0;
    for (; at + 8 <= rest.length; at += 8) {
      hash = u64(rotate(hash ^ round64(0n, rest.readBigUInt64LE(at)), 27n) * P1 + P4);
    }
    if (at + 4 <= rest.length) {
      hash = u64(rotate(hash ^ u64(BigInt(rest.readUInt32LE(at)) * P1), 23n) * P2 + P3);
      at += 4;
    }
    for (; at < rest.length; at += 1) {
      hash = u64(rotate(hash ^ u64(BigInt(rest.readUInt8(at)) * P5), 11n) * P1);
    }
    return bigEndian(avalanche64(hash));
  }

  #merged(): bigint {
    const rotations = [1n, 7n, 12n, 18n];
    let hash = u64(this.#state.reduce((sum, lane, at) => sum + rotate(lane, rotations[at] ?? 0n), 0n));
    for (const lane of this.#state) hash = u64((hash ^ round64(0n, lane)) * P1 + P4);
    return hash;
  }
}

/** Inputs of at most this many bytes are hashed as a whole. */
const SHORT = 240;

function avalanche(value: bigint): bigint {
  const hash = u64((value ^ (value >> 37n)) * MIX_1);
  return hash ^ (hash >> 32n);
}

/** A checksum in progress, of 64 or 128 bits. */
export class XxHash3 {
  readonly #bits: 64 | 128;
  readonly #state = BigUint64Array.of(PRIME32[2], P1, P2, P3, P4, PRIME32[1], P5, PRIME32[0]);
  /** The last stripe before the pending block. */
  readonly #before = Buffer.alloc(STRIPE);
  readonly #pending = new PendingBlock(BLOCK, (blocks) => {
    xxHashModule().addBlocks(this.#state, blocks);
    this.#before.set(blocks.subarray(blocks.length - STRIPE));
  });

  constructor(bits: 64 | 128) {
    this.#bits = bits;
  }

  update(bytes: Uint8Array): void {
    this.#pending.add(bytes);
  }

  digest(): Buffer {
    const { size } = this.#pending;
    const rest = this.#pending.rest();
    if (size <= SHORT) return this.#bits === 64 ? short64(rest) : short128(rest);
    const module = xxHashModule();
    const stripes = rest.length - 1 - ((rest.length - 1) % STRIPE);
    module.addStripes(this.#state, rest.subarray(0, stripes), 0);
    const last = Buffer.concat([this.#before, rest]).subarray(-STRIPE);
    module.addStripes(this.#state, last, SECRET.length - STRIPE - 7);
    const low = this.#merged(11, u64(BigInt(size) * P1));
    if (this.#bits === 64) return bigEndian(low);
    return bigEndian(this.#merged(SECRET.length - STRIPE - 11, u64(~u64(BigInt(size) * P2))), low);
  }

  #merged(secret: number, start: bigint): bigint {
    let sum = start;
    for (let at = 0; at < 4; at += 1) {
      const [first = 0n, second = 0n] = this.#state.subarray(2 * at, 2 * at + 2);
      sum += folded((first ^ secret64(secret + 16 * at)) * (second ^ secret64(secret + 16 * at + 8)));
    }
    return avalanche(u64(sum));
  }
}

const word = (input: Buffer, at: number) => input.readBigUInt64LE(at);
const half = (input: Buffer, at: number) => BigInt(input.readUInt32LE(at));

/** Mixes 16 bytes. */
function mixed(input: Buffer, at: number, secret: number): bigint {
  return folded((word(input, at) ^ secret64(secret)) * (word(input, at + 8) ^ secret64(secret + 8)));
}

/** Combines up to 3 bytes and their count. */
function combined(input: Buffer): bigint {
  const { length } = input;
  const [first, middle, last] = [input.readUInt8(0), input.readUInt8(length >> 1), input.readUInt8(length - 1)];
  return (BigInt(first) << 16n) | (BigInt(middle) << 24n) | BigInt(last) | (BigInt(length) << 8n);
}

function short64(input: Buffer): Buffer {
  const { length } = input;
  if (length > 128) return bigEndian(medium64(input));
  if (length > 16) {
    let sum = BigInt(length) * P1;
    for (let at = 0; at <= (length - 1) >> 5; at += 1) {
      sum += mixed(input, 16 * at, 32 * at) + mixed(input, length - 16 * (at + 1), 32 * at + 16);
    }
    return bigEndian(avalanche(u64(sum)));
  }
  if (length > 8) {
    const first = word(input, 0) ^ secretPair(24);
    const last = word(input, length - 8) ^ secretPair(40);
    return bigEndian(avalanche(u64(BigInt(length) + swapped(first, 8) + last + folded(first * last))));
  }
  if (length > 3) {
    const keyed = (half(input, length - 4) | (half(input, 0) << 32n)) ^ secretPair(8);
    let hash = u64((keyed ^ rotate(keyed, 49n) ^ rotate(keyed, 24n)) * MIX_2);
    hash = u64((hash ^ u64((hash >> 35n) + BigInt(length))) * MIX_2);
    return bigEndian(hash ^ (hash >> 28n));
  }
  return bigEndian(avalanche64(length === 0 ? secretPair(56) : combined(input) ^ secret32(0)));
}

function medium64(input: Buffer): bigint {
  const { length } = input;
  let sum = BigInt(length) * P1;
  for (let at = 0; at < 8; at += 1) sum += mixed(input, 16 * at, 16 * at);
  sum = avalanche(u64(sum));
  for (let at = 8; at < length >> 4; at += 1) sum += mixed(input, 16 * at, 16 * (at - 8) + 3);
  return avalanche(u64(sum + mixed(input, length - 16, 119)));
}

function short128(input: Buffer): Buffer {
  const { length } = input;
  if (length > 16) return medium128(input);
  if (length > 8) return upTo16Bytes(input);
  if (length > 3) {
    const keyed = (half(input, 0) | (half(input, length - 4) << 32n)) ^ secretPair(16);
    const product = keyed * (P1 + (BigInt(length) << 2n));
    let low = u64(product);
    const high = u64((product >> 64n) + (low << 1n));
    low ^= high >> 3n;
    low = u64((low ^ (low >> 35n)) * MIX_2);
    return bigEndian(avalanche(high), low ^ (low >> 28n));
  }
  if (length === 0) return bigEndian(avalanche64(secretPair(80)), avalanche64(secretPair(64)));
  const low = combined(input);
  const bytes = swapped(low, 4);
  const high = BigInt.asUintN(32, bytes << 13n) | (bytes >> 19n);
  return bigEndian(avalanche64(high ^ secret32(8)), avalanche64(low ^ secret32(0)));
}

function upTo16Bytes(input: Buffer): Buffer {
  const last = word(input, input.length - 8);
  const product = (word(input, 0) ^ last ^ secretPair(32)) * P1;
  const low = u64(u64(product) + (BigInt(input.length - 1) << 54n));
  const keyed = last ^ secretPair(48);
  const high = u64((product >> 64n) + keyed + BigInt.asUintN(32, keyed) * (PRIME32[1] - 1n));
  const second = (low ^ swapped(high, 8)) * P2;
  return bigEndian(avalanche(u64((second >> 64n) + high * P2)), avalanche(u64(second)));
}

function medium128(input: Buffer): Buffer {
  const { length } = input;
  const sums = { low: u64(BigInt(length) * P1), high: 0n };
  const add = (first: number, second: number, secret: number) => {
    sums.low = u64(sums.low + mixed(input, first, secret));
    sums.low ^= u64(word(input, second) + word(input, second + 8));
    sums.high = u64(sums.high + mixed(input, second, secret + 16));
    sums.high ^= u64(word(input, first) + word(input, first + 8));
  };
  if (length <= 128) {
    for (let at = (length - 1) >> 5; at >= 0; at -= 1) add(16 * at, length - 16 * (at + 1), 32 * at);
  } else {
    for (let at = 0; at < 4; at += 1) add(32 * at, 32 * at + 16, 32 * at);
    [sums.low, sums.high] = [avalanche(sums.low), avalanche(sums.high)];
    for (let at = 4; at < length >> 5; at += 1) add(32 * at, 32 * at + 16, 32 * (at - 4) + 3);
    add(length - 16, length - 32, 103);
  }
  const second = u64(sums.low * P1 + sums.high * P4 + BigInt(length) * P2);
  return bigEndian(u64(-avalanche(second)), avalanche(u64(sums.low + sums.high)));
}
