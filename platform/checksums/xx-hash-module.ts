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
  unsigned,
  WebAssembly,
} from './wasm-assembly.ts';

export const PRIME32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn] as const;
export const PRIME64 = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
] as const;

/** The default secret of XXH3. */
export const SECRET = Buffer.from(
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221' +
    'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb' +
    '170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e',
  'hex',
);

/** Bytes that XXH3 adds to its accumulators at once. */
export const STRIPE = 64;
/** Bytes after which XXH3 scrambles its accumulators. */
export const BLOCK = 1_024;
/** Bytes that XXH64 adds to its accumulators at once. */
export const STRIPE64 = 32;

const LANES = 8;
const LANES64 = 4;
/** The memory holds the secret, then the accumulators, and from the second page on the input. */
const STATE = 256;
const INPUT = PAGE;
const INPUT_BYTES = PAGE;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Adds stripes from `start` to `end` by XXH3, the first of them with the secret at this address. */
  readonly stripes: (start: number, end: number, secret: number) => void;
  readonly scramble: () => void;
  /** Adds stripes from `start` to `end` by XXH64. */
  readonly stripes64: (start: number, end: number) => void;
}

let loaded: XxHashModule | undefined;

/** Creates the module on first use. */
export function xxHashModule(): XxHashModule {
  return (loaded ??= new XxHashModule());
}

/**
 * The loops of XXH64 and XXH3 over long inputs, in WebAssembly: it has integers of 64 bits. The caller keeps the accumulators. They run
 * at several GB/s, the same loops on BigInt at some MB/s.
 *
 * @see https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
class XxHashModule {
  readonly #code: Exports;
  readonly #state: BigUint64Array;
  readonly #input: Uint8Array;

  constructor() {
    this.#code = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes())).exports as Exports;
    const { buffer } = this.#code.memory;
    new Uint8Array(buffer, 0, SECRET.length).set(SECRET);
    this.#state = new BigUint64Array(buffer, STATE, LANES);
    this.#input = new Uint8Array(buffer, INPUT, INPUT_BYTES);
  }

  /** Adds whole blocks to the accumulators of XXH3. */
  addBlocks(state: BigUint64Array, bytes: Uint8Array): void {
    this.#state.set(state);
    for (let from = 0; from < bytes.length; from += INPUT_BYTES) {
      const chunk = bytes.subarray(from, from + INPUT_BYTES);
      this.#input.set(chunk);
      for (let at = INPUT; at < INPUT + chunk.length; at += BLOCK) {
        this.#code.stripes(at, at + BLOCK, 0);
        this.#code.scramble();
      }
    }
    state.set(this.#state);
  }

  /** Adds stripes of at most one block to the accumulators of XXH3. `secret` is the offset of the secret for the first. */
  addStripes(state: BigUint64Array, bytes: Uint8Array, secret: number): void {
    this.#state.set(state);
    this.#input.set(bytes);
    this.#code.stripes(INPUT, INPUT + bytes.length, secret);
    state.set(this.#state);
  }

  /** Adds whole stripes to the four accumulators of XXH64. */
  addStripes64(state: BigUint64Array, bytes: Uint8Array): void {
    this.#state.set(state);
    for (let from = 0; from < bytes.length; from += INPUT_BYTES) {
      const chunk = bytes.subarray(from, from + INPUT_BYTES);
      this.#input.set(chunk);
      this.#code.stripes64(INPUT, INPUT + chunk.length);
    }
    state.set(this.#state.subarray(0, state.length));
  }
}

// Opcodes of instructions. @see https://webassembly.github.io/spec/core/binary/instructions.html
const [i32Add, i32LessUnsigned] = [0x6a, 0x49];
const [i64Add, i64Multiply, i64And, i64Xor, i64ShiftRight, i64RotateLeft] = [0x7c, 0x7e, 0x83, 0x85, 0x88, 0x89];
const i64Const = (value: bigint) => [0x42, ...signed64(BigInt.asIntN(64, value))];
const i64Load = (offset: number) => [0x29, 0, ...unsigned(offset)];
const i64Store = (offset: number) => [0x37, 0, ...unsigned(offset)];

function signed64(value: bigint): number[] {
  if (value >= -64n && value < 64n) return [Number(value & 0x7fn)];
  return [Number(value & 0x7fn) | 0x80, ...signed64(value >> 7n)];
}

const each = (count: number, code: (lane: number) => number[]) =>
  Array.from({ length: count }, (_, lane) => code(lane)).flat();
const lane = (first: number, index: number) => first + index;
const advance = (address: number, bytes: number) => [get(address), i32Const(bytes), i32Add, set(address)].flat();

/** Puts the accumulators into locals, repeats the step while `START` is less than `END`, and stores them. */
function loopOverStripes(lanes: number, first: number, step: readonly number[]): number[] {
  const more = [get(START), get(END), i32LessUnsigned].flat();
  return [
    ...each(lanes, (at) => [i32Const(STATE), i64Load(8 * at), set(lane(first, at))].flat()),
    ...repeatWhile(more, step),
    ...each(lanes, (at) => [i32Const(STATE), get(lane(first, at)), i64Store(8 * at)].flat()),
    end,
  ];
}

const [START, END, SECRET_AT] = [0, 1, 2] as const;

function stripesCode(): number[] {
  const [first, data, keyed] = [3, 11, 12];
  const low = [get(keyed), i64Const(0xffff_ffffn), i64And].flat();
  const high = [get(keyed), i64Const(32n), i64ShiftRight].flat();
  const step = each(LANES, (at) => {
    const [own, other] = [lane(first, at), lane(first, at ^ 1)];
    return [
      [get(START), i64Load(8 * at), set(data)],
      [get(data), get(SECRET_AT), i64Load(8 * at), i64Xor, set(keyed)],
      [get(other), get(data), i64Add, set(other)],
      [get(own), low, high, i64Multiply, i64Add, set(own)],
    ].flat(2);
  });
  const locals = [1, LANES + 2, I64];
  return [...locals, ...loopOverStripes(LANES, first, [...step, ...advance(START, STRIPE), ...advance(SECRET_AT, 8)])];
}

function scrambleCode(): number[] {
  const value = 0;
  const code = each(LANES, (at) =>
    [
      [i32Const(0), i64Load(STATE + 8 * at), set(value), i32Const(0)],
      [get(value), get(value), i64Const(47n), i64ShiftRight, i64Xor],
      [i32Const(SECRET.length - STRIPE), i64Load(8 * at), i64Xor],
      [i64Const(PRIME32[0]), i64Multiply, i64Store(STATE + 8 * at)],
    ].flat(2),
  );
  return [1, 1, I64, ...code, end];
}

function stripes64Code(): number[] {
  const first = 2;
  const step = each(LANES64, (at) => {
    const added = [get(START), i64Load(8 * at), i64Const(PRIME64[1]), i64Multiply, get(lane(first, at)), i64Add].flat();
    return [added, i64Const(31n), i64RotateLeft, i64Const(PRIME64[0]), i64Multiply, set(lane(first, at))].flat();
  });
  return [1, LANES64, I64, ...loopOverStripes(LANES64, first, [...step, ...advance(START, STRIPE64)])];
}

function moduleBytes(): Uint8Array {
  const functions = ['stripes', 'scramble', 'stripes64'];
  const codes = [stripesCode(), scrambleCode(), stripes64Code()];
  const types = [
    [0x60, 3, I32, I32, I32, 0],
    [0x60, 0, 0],
    [0x60, 2, I32, I32, 0],
  ];
  return moduleOf(
    section(1, [types.length, ...types.flat()]),
    section(3, [functions.length, 0, 1, 2]),
    section(5, [1, 0, (INPUT + INPUT_BYTES) / PAGE]),
    section(7, [4, ...name('memory'), 2, 0, ...functions.flatMap((exported, at) => [...name(exported), 0, at])]),
    section(10, [codes.length, ...codes.flatMap((code) => [...unsigned(code.length), ...code])]),
  );
}
