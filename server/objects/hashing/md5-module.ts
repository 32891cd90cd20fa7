import {
  end,
  get,
  I32,
  i32Const,
  moduleOf,
  name,
  PAGE,
  repeatWhile,
  section,
  set,
  unsigned,
  V128,
  WebAssembly,
} from '../../../platform/checksums/wasm-assembly.ts';
import { CONSTANTS, LANES } from './layout.ts';

/**
 * MD5 of four streams at once in WebAssembly, assembled here. Each of the 64 steps depends on the one before, so that one stream leaves
 * most of a processor idle, and a vector register holds the same word of four streams. A lane without a stream hashes the bytes of
 * another, and its result is ignored.
 *
 * At the socket, a PUT of 8 MiB at 4 connections has 46 instead of 25 operations a second on two cores (docs/decisions/0014).
 *
 * @see https://www.rfc-editor.org/rfc/rfc1321
 */
export type HashLanes = (first: number, second: number, third: number, fourth: number, blocks: number) => void;

/** Bytes of a block. */
export const BLOCK = 64;
/** The four words before the first block. */
export const INITIAL: readonly number[] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];

/** Hashes `blocks` blocks from each address on. The states are at `LANES`: the first word of each lane, then the second, and so on. */
export function md5Lanes(memory: { readonly buffer: SharedArrayBuffer }): HashLanes {
  const table = new Int32Array(memory.buffer, CONSTANTS, 64);
  // The last round subtracts the complement of its function, which is one more than adding the function.
  for (const [step, constant] of constants().entries()) table[step] = step < 48 ? constant : constant - 1;
  const pages = memory.buffer.byteLength / PAGE;
  const module = new WebAssembly.Module(moduleBytes(pages));
  const instance = new WebAssembly.Instance(module, { hashing: { memory } });
  return (instance.exports as { readonly update: HashLanes }).update;
}

function constants(): number[] {
  return Array.from({ length: 64 }, (_, step) => Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32));
}

// Instructions of 128 bits. @see https://webassembly.github.io/spec/core/binary/instructions.html#vector-instructions
const vector = (code: number) => [0xfd, ...unsigned(code)];
const load = (offset: number) => [...vector(0), 0, ...unsigned(offset)];
const load32Everywhere = (offset: number) => [...vector(9), 2, ...unsigned(offset)];
const store = (offset: number) => [...vector(11), 0, ...unsigned(offset)];
const shuffle = (bytes: readonly number[]) => [...vector(13), ...bytes];
const shuffleWords = (words: readonly number[]) =>
  shuffle(words.flatMap((word) => [0, 1, 2, 3].map((b) => word * 4 + b)));
const [and, andNot, or, xor, select] = [0x4e, 0x4f, 0x50, 0x51, 0x52].map(vector) as [
  number[],
  number[],
  number[],
  number[],
  number[],
];
const [shiftLeft, shiftRight, add, subtract] = [0xab, 0xad, 0xae, 0xb1].map(vector) as [
  number[],
  number[],
  number[],
  number[],
];
const [i32Add, i32Subtract] = [0x6a, 0x6b];

const lanes = [0, 1, 2, 3] as const;
/** Locals: four addresses and the number of blocks, then the words of the state, of the state before, of the block, and four more. */
const BLOCKS = 4;
const state = (word: number) => 5 + word;
const before = (word: number) => 9 + word;
const message = (word: number) => 13 + word;
const spare = (index: number) => 29 + index;
const VECTORS = 28;

/** Transposes sixteen bytes of each stream: from vectors of a stream to vectors of a word. */
function transpose(quarter: number): number[] {
  const words = (lane: number) => [...get(lane), ...load(16 * quarter)];
  const pair = (first: number, second: number, chosen: readonly number[], into: number) => [
    ...words(first),
    ...words(second),
    ...shuffleWords(chosen),
    ...set(spare(into)),
  ];
  const join = (first: number, second: number, chosen: readonly number[], into: number) => [
    ...get(spare(first)),
    ...get(spare(second)),
    ...shuffleWords(chosen),
    ...set(message(4 * quarter + into)),
  ];
  return [
    ...pair(0, 1, [0, 4, 1, 5], 0),
    ...pair(2, 3, [0, 4, 1, 5], 1),
    ...pair(0, 1, [2, 6, 3, 7], 2),
    ...pair(2, 3, [2, 6, 3, 7], 3),
    ...join(0, 1, [0, 1, 4, 5], 0),
    ...join(0, 1, [2, 3, 6, 7], 1),
    ...join(2, 3, [0, 1, 4, 5], 2),
    ...join(2, 3, [2, 3, 6, 7], 3),
  ];
}

interface Round {
  /** The index of the message word in a step. */
  readonly word: (step: number) => number;
  readonly rotations: readonly number[];
  /** Adds the function of the round of three words to the value on the stack. */
  readonly mix: (b: number[], c: number[], d: number[]) => number[];
}

const rounds: readonly Round[] = [
  { word: (step) => step, rotations: [7, 12, 17, 22], mix: (b, c, d) => [...c, ...d, ...b, ...select, ...add] },
  {
    word: (step) => 5 * step + 1,
    rotations: [5, 9, 14, 20],
    // Separate additions: terms without `b`, the result of the step before, do not wait for it.
    mix: (b, c, d) => [...c, ...d, ...andNot, ...add, ...b, ...d, ...and, ...add],
  },
  {
    word: (step) => 3 * step + 5,
    rotations: [4, 11, 16, 23],
    mix: (b, c, d) => [...c, ...d, ...xor, ...b, ...xor, ...add],
  },
  {
    word: (step) => 7 * step,
    rotations: [6, 10, 15, 21],
    mix: (b, c, d) => [...d, ...b, ...andNot, ...c, ...xor, ...subtract],
  },
];

/** The words rotate with every step. */
function oneStep(number: number): number[] {
  const round = rounds[number >> 4];
  if (round === undefined) throw new RangeError(`MD5 has no step ${number}`);
  const local = (place: number) => state((place - number + 64) % 4);
  const [a, b, c, d] = [local(0), local(1), local(2), local(3)] as const;
  const rotation = round.rotations[number % 4] ?? 0;
  return [
    ...get(a),
    ...i32Const(0),
    ...load32Everywhere(CONSTANTS + 4 * number),
    ...get(message(round.word(number) % 16)),
    ...add,
    ...add,
    ...round.mix(get(b), get(c), get(d)),
    ...set(a),
    ...rotated(a, rotation),
    ...get(b),
    ...add,
    ...set(a),
  ];
}

function rotated(local: number, bits: number): number[] {
  // A rotation by half a word is one instruction.
  if (bits === 16) {
    return [...get(local), ...get(local), ...shuffle([2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13])];
  }
  return [...get(local), ...i32Const(bits), ...shiftLeft, ...get(local), ...i32Const(32 - bits), ...shiftRight, ...or];
}

function updateCode(): number[] {
  const block = [
    lanes.flatMap((word) => [...get(state(word)), ...set(before(word))]),
    lanes.flatMap(transpose),
    Array.from({ length: 64 }, (_, step) => oneStep(step)).flat(),
    lanes.flatMap((word) => [...get(state(word)), ...get(before(word)), ...add, ...set(state(word))]),
    lanes.flatMap((lane) => [...get(lane), ...i32Const(BLOCK), i32Add, ...set(lane)]),
    [...get(BLOCKS), ...i32Const(1), i32Subtract, ...set(BLOCKS)],
  ].flat();
  return [
    [1, VECTORS, V128],
    lanes.flatMap((word) => [...i32Const(0), ...load(LANES + 16 * word), ...set(state(word))]),
    repeatWhile(get(BLOCKS), block),
    lanes.flatMap((word) => [...i32Const(0), ...get(state(word)), ...store(LANES + 16 * word)]),
    [end],
  ].flat();
}

function moduleBytes(pages: number): Uint8Array {
  const code = updateCode();
  const shared = 3;
  return moduleOf(
    section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
    section(2, [1, ...name('hashing'), ...name('memory'), 2, shared, ...unsigned(pages), ...unsigned(pages)]),
    section(3, [1, 0]),
    section(7, [1, ...name('update'), 0, 0]),
    section(10, [1, ...unsigned(code.length), ...code]),
  );
}
