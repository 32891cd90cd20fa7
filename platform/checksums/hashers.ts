import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ChecksumAlgorithm } from '../../protocol/s3/checksum-algorithms.ts';
import {
  end,
  get,
  I32,
  I64,
  i32Const,
  moduleOf,
  name,
  PAGE,
  repeatWhile,
  section,
  set,
  signed,
  unsigned,
  WebAssembly,
} from './wasm-assembly.ts';
import { XxHash3, XxHash64 } from './xx-hash.ts';

/** Computes the tables of a reflected CRC for slicing: table k has the contribution of a byte that k more bytes follow in the same step. */
function crcTables(polynomial: bigint, count: number): bigint[][] {
  const first = Array.from({ length: 256 }, (_, byte) => {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ polynomial : crc >> 1n;
    return crc;
  });
  const tables = [first];
  while (tables.length < count) {
    const last = tables[tables.length - 1] ?? first;
    tables.push(last.map((crc) => (crc >> 8n) ^ (first[Number(crc & 255n)] ?? 0n)));
  }
  return tables;
}

/**
 * Reflected CRCs of up to 64 bits in WebAssembly, assembled here: WebAssembly has integers of 64 bits, JavaScript has not.
 *
 * Short inputs take table lookups: each step processes sixteen bytes, each with a table of its own; only the first eight depend on the step
 * before. Long inputs are divided first by a multiple of the polynomial with few terms. Over two elements, a polynomial that divides R(x)
 * also divides R(x)^128 = R(x^128). So whole vectors of 128 bits are the coefficients of the division, and each costs one exclusive or for
 * each term. The remainder, which has the degree of R in vectors, has the same CRC as the input. 64 KiB take 11 instead of 36 µs
 * (docs/decisions/0033).
 *
 * The memory holds sixteen tables of 256 entries of 8 bytes, then the state, then zeros, and from the second page on the input.
 */
const SLICES = 16;
const TABLE_BYTES = 256 * 8;
const STATE = SLICES * TABLE_BYTES;
const INPUT = PAGE;
const INPUT_BYTES = PAGE;

/** The division pays off from this many times its remainder on. */
const MIN_QUOTIENT = 2;

interface CrcExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Updates the state with the bytes from `start` to `end`. */
  readonly update: (start: number, end: number) => void;
  /** Divides: replaces the vectors by those of the quotient. Both addresses are lower by the size of the remainder. */
  readonly divide: (start: number, end: number) => void;
  /** Computes the remainder, at this address. */
  readonly remainder: (start: number) => void;
}

/** The tables of one CRC and the code that uses them. The caller keeps the state of a checksum in progress. */
export class CrcModule {
  readonly #code: CrcExports;
  readonly #state: Uint32Array;
  readonly #input: Uint8Array;
  /** The first eight bytes of the input. */
  readonly #first: Uint32Array;
  /** The size of the remainder in bytes. */
  readonly #remainder: number;

  /**
   * @param polynomial reflected
   * @param multiple the exponents of a multiple of the polynomial, the highest at the end
   */
  constructor(polynomial: bigint, multiple: readonly number[]) {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes(multiple)));
    this.#code = instance.exports as CrcExports;
    const { memory } = this.#code;
    const tables = new BigUint64Array(memory.buffer, 0, SLICES * 256);
    for (const [slice, table] of crcTables(polynomial, SLICES).entries()) tables.set(table, slice * 256);
    this.#remainder = VECTOR * degreeOf(multiple);
    this.#state = new Uint32Array(memory.buffer, STATE, 2);
    this.#input = new Uint8Array(memory.buffer, INPUT, INPUT_BYTES);
    this.#first = new Uint32Array(memory.buffer, INPUT, 2);
  }

  /** `state` holds the lower and the upper half, and is updated. */
  update(state: Uint32Array, bytes: Uint8Array): void {
    this.#state.set(state);
    for (let at = 0; at < bytes.length; at += INPUT_BYTES) {
      const chunk = bytes.subarray(at, at + INPUT_BYTES);
      this.#input.set(chunk);
      this.#code.update(INPUT + this.#divide(chunk.length), INPUT + chunk.length);
    }
    state.set(this.#state);
  }

  /** Replaces a long input of `size` bytes by a remainder with the same CRC. Returns the offset of the remainder in the input. */
  #divide(size: number): number {
    const quotient = size - (size % VECTOR) - this.#remainder;
    if (quotient < MIN_QUOTIENT * this.#remainder) return 0;
    // The state is added to the first bytes of what follows it.
    for (const half of [0, 1]) this.#first[half] = (this.#first[half] ?? 0) ^ (this.#state[half] ?? 0);
    this.#state.fill(0);
    const start = INPUT - this.#remainder;
    this.#code.divide(start, start + quotient);
    this.#code.remainder(INPUT + quotient);
    return quotient;
  }
}

// Opcodes of instructions. @see https://webassembly.github.io/spec/core/binary/instructions.html
const i64Const = (value: number) => [0x42, ...signed(value)];
const i64Load = (offset: number) => [0x29, 0, ...unsigned(offset)];
const i64Load8 = [0x31, 0, 0];
const i64Store = (offset: number) => [0x37, 0, ...unsigned(offset)];
const [i32Add, i32Subtract, i32And, i32LessUnsigned, i32LessOrEqualUnsigned] = [0x6a, 0x6b, 0x71, 0x49, 0x4d];
const [i64And, i64Xor, i64ShiftLeft, i64ShiftRight, i32Wrap] = [0x83, 0x85, 0x86, 0x88, 0xa7];

/** Locals of `update`: its two arguments, the CRC, the second word. */
const [START, END, CRC, WORD] = [0, 1, 2, 3] as const;

/** The table entry for a byte of a local. */
function entry(local: number, byte: number, table: number): number[] {
  const shift = byte === 0 ? [i64Const(3), i64ShiftLeft] : [i64Const(8 * byte - 3), i64ShiftRight];
  return [get(local), shift, i32Wrap, i32Const(0xff << 3), i32And, i64Load(table * TABLE_BYTES)].flat(2);
}

function step(): number[] {
  const code = [get(START), i64Load(0), get(CRC), i64Xor, set(CRC), get(START), i64Load(8), set(WORD)].flat();
  for (let byte = 0; byte < SLICES; byte += 1) {
    code.push(...entry(byte < 8 ? CRC : WORD, byte % 8, SLICES - 1 - byte));
    if (byte > 0) code.push(i64Xor);
  }
  return [...code, ...set(CRC)];
}

function updateCode(): number[] {
  const advance = (bytes: number) => [get(START), i32Const(bytes), i32Add, set(START)].flat();
  const sixteenAreLeft = [get(START), i32Const(SLICES), i32Add, get(END), i32LessOrEqualUnsigned].flat();
  const oneIsLeft = [get(START), get(END), i32LessUnsigned].flat();
  const stepOfOne = [
    [get(CRC), get(START), i64Load8, i64Xor, i64Const(0xff), i64And, i64Const(3), i64ShiftLeft, i32Wrap, i64Load(0)],
    [get(CRC), i64Const(8), i64ShiftRight, i64Xor, set(CRC)],
  ].flat(2);
  return [
    [1, 2, I64],
    [i32Const(0), i64Load(STATE), set(CRC)],
    repeatWhile(sixteenAreLeft, [...step(), ...advance(SLICES)]),
    repeatWhile(oneIsLeft, [...stepOfOne, ...advance(1)]),
    [i32Const(0), get(CRC), i64Store(STATE), end],
  ].flat(2);
}

const VECTOR = 16;
const degreeOf = (multiple: readonly number[]): number => multiple.at(-1) ?? 0;
const vector = (code: number) => [0xfd, ...unsigned(code)];
const vectorLoad = (offset: number) => [...vector(0), 0, ...unsigned(offset)];
const vectorStore = (offset: number) => [...vector(11), 0, ...unsigned(offset)];
const vectorXor = vector(0x51);
const advanceVector = [get(START), i32Const(VECTOR), i32Add, set(START)].flat();

/** Adds to each vector of the quotient those before it at the distances of the terms. Before the input there are zeros. */
function divideCode(multiple: readonly number[]): number[] {
  const before = multiple.slice(0, -1).flatMap((term) => [get(START), vectorLoad(VECTOR * term), vectorXor].flat());
  const at = VECTOR * degreeOf(multiple);
  const step = [get(START), get(START), vectorLoad(at), before, vectorStore(at)].flat();
  const more = [get(START), get(END), i32LessUnsigned].flat();
  return [0, ...repeatWhile(more, [...step, ...advanceVector]), end];
}

/** The local of `remainder`: the vector of the quotient that is added. */
const FROM = 1;

/** Adds the last vectors of the quotient to those of the remainder, for one term of the multiple after the other. */
function remainderCode(multiple: readonly number[]): number[] {
  const code = [1, 1, I32];
  for (const term of multiple.slice(0, -1)) {
    const distance = VECTOR * (degreeOf(multiple) - term);
    const add = [get(FROM), get(FROM), vectorLoad(0), get(FROM), vectorLoad(distance), vectorXor].flat();
    const more = [get(FROM), get(START), i32LessUnsigned].flat();
    const next = [get(FROM), i32Const(VECTOR), i32Add, set(FROM)].flat();
    code.push(...get(START), ...i32Const(distance), i32Subtract, ...set(FROM));
    code.push(...repeatWhile(more, [...add, ...vectorStore(distance), ...next]));
  }
  return [...code, end];
}

function moduleBytes(multiple: readonly number[]): Uint8Array {
  const functions = ['update', 'divide', 'remainder'];
  const codes = [updateCode(), divideCode(multiple), remainderCode(multiple)];
  return moduleOf(
    section(1, [2, 0x60, 2, I32, I32, 0, 0x60, 1, I32, 0]),
    section(3, [3, 0, 0, 1]),
    section(5, [1, 0, (INPUT + INPUT_BYTES) / PAGE]),
    section(7, [4, ...name('memory'), 2, 0, ...functions.flatMap((exported, at) => [...name(exported), 0, at])]),
    section(10, [3, ...codes.flatMap((code) => [...unsigned(code.length), ...code])]),
  );
}

/** CRC-32C (Castagnoli), reflected: polynomial 0x1EDC6F41. @see RFC 3720, appendix B.4 */
export const CRC32C_POLYNOMIAL = 0x82f63b78n;
/** The exponents of multiples of the polynomials with few terms, found by a search of collisions. The tests divide them. */
export const CRC32C_MULTIPLE = [0, 14, 39, 54, 144, 209] as const;

/** Created on first use: the tables take some milliseconds. */
let crc32cModule: CrcModule | undefined;
const crc32cState = new Uint32Array(2);

/**
 * Returns the CRC-32C of `bytes` after those that gave `previous`, as an unsigned 32-bit number.
 *
 * @example
 *     crc32c(Buffer.from('123456789')); // 0xe3069283
 *     crc32c(Buffer.from('789'), crc32c(Buffer.from('123456'))); // 0xe3069283
 */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  crc32cModule ??= new CrcModule(CRC32C_POLYNOMIAL, CRC32C_MULTIPLE);
  crc32cState[0] = ~previous;
  crc32cState[1] = 0;
  crc32cModule.update(crc32cState, bytes);
  return ~(crc32cState[0] ?? 0) >>> 0;
}

/** CRC-64/NVME, reflected: polynomial 0xAD93D23594C93659. @see NVM Express NVM Command Set Specification 1.0, section 5.2.1.3.4 */
export const CRC64NVME_POLYNOMIAL = 0x9a6c9329ac4bc9b5n;
export const CRC64NVME_MULTIPLE = [0, 47, 121, 169, 172, 183, 236, 272, 285, 296, 297, 310] as const;

/** Created on first use: the tables take some milliseconds. */
let crc64Module: CrcModule | undefined;

/** A checksum in progress. */
export class Crc64Nvme {
  readonly #module = (crc64Module ??= new CrcModule(CRC64NVME_POLYNOMIAL, CRC64NVME_MULTIPLE));
  /** Lower half, upper half. */
  readonly #state = Uint32Array.of(0xffff_ffff, 0xffff_ffff);

  update(bytes: Uint8Array): void {
    this.#module.update(this.#state, bytes);
  }

  /** 8 bytes, big-endian, as S3 writes them in base64. */
  digest(): Buffer {
    const [low = 0, high = 0] = this.#state;
    const digest = Buffer.alloc(8);
    digest.writeInt32BE(~high, 0);
    digest.writeInt32BE(~low, 4);
    return digest;
  }
}

/** A checksum in progress; `digest` is called once, at the end. */
export interface Hasher {
  update(bytes: Buffer): unknown;
  digest(): Buffer;
}

/**
 * Returns a checksum in progress.
 *
 * @example
 *     const hasher = hasherOf('CRC32C');
 *     hasher.update(Buffer.from('123456789'));
 *     hasher.digest().toString('hex'); // 'e3069283'
 */
export function hasherOf(algorithm: ChecksumAlgorithm): Hasher {
  switch (algorithm) {
    case 'CRC32':
      return new Crc32(crc32);
    case 'CRC32C':
      return new Crc32(crc32c);
    case 'CRC64NVME':
      return new Crc64Nvme();
    case 'SHA1':
      return createHash('sha1');
    case 'SHA256':
      return createHash('sha256');
    case 'SHA512':
      return createHash('sha512');
    case 'MD5':
      return createHash('md5');
    case 'XXHASH64':
      return new XxHash64();
    case 'XXHASH3':
      return new XxHash3(64);
    case 'XXHASH128':
      return new XxHash3(128);
  }
}

class Crc32 implements Hasher {
  readonly #step: (bytes: Buffer, previous: number) => number;
  #crc = 0;

  constructor(step: (bytes: Buffer, previous: number) => number) {
    this.#step = step;
  }

  update(bytes: Buffer): void {
    this.#crc = this.#step(bytes, this.#crc);
  }

  digest(): Buffer {
    const digest = Buffer.alloc(4);
    digest.writeUInt32BE(this.#crc);
    return digest;
  }
}
