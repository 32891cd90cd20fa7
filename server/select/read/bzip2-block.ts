import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type BitInput, invalid } from './bit-input.ts';

const groupSize = 50;
const maxCodeLength = 20;
/** Bytes of output that are yielded at a time: a block may expand to 46 MB. */
const outputBytes = 256 * 1_024;

/** Decodes the block after its magic number: Huffman codes, move to front, the Burrows-Wheeler transform, and runs. */
export function* decodeBlock(input: BitInput, blockSize: number): Generator<Buffer> {
  const expectedSum = input.bits(32);
  if (input.bits(1) !== 0)
    throw new S3Error('InvalidCompressionFormat', 'Randomised blocks of bzip2 are not supported.');
  const origin = input.bits(24);
  const used = readUsed(input);
  const codes = input.bits(3);
  if (codes < 2 || codes > 6 || used.length === 0) throw invalid();
  const selectors = readSelectors(input, codes);
  const tables = Array.from({ length: codes }, () => readTable(input, used.length + 2));
  if (input.isOver) throw invalid();
  const { symbols, counts } = readSymbols(input, { used, selectors, tables, blockSize });
  if (input.isOver) throw invalid();
  const length = symbols.length;
  if (origin >= length) throw invalid();
  yield* expandRuns(invert(symbols, counts), symbols, origin, expectedSum);
}

/** Reads which bytes the block has. */
function readUsed(input: BitInput): Uint8Array {
  const used: number[] = [];
  const ranges = input.bits(16);
  for (let range = 0; range < 16; range += 1) {
    if ((ranges & (0x8000 >> range)) === 0) continue;
    const bits = input.bits(16);
    for (let one = 0; one < 16; one += 1) if ((bits & (0x8000 >> one)) !== 0) used.push(range * 16 + one);
  }
  return Uint8Array.from(used);
}

/** Reads which table each group of symbols uses. */
function readSelectors(input: BitInput, codes: number): Uint8Array {
  const count = input.bits(15);
  if (count === 0) throw invalid();
  const order = [0, 1, 2, 3, 4, 5];
  const selectors = new Uint8Array(count);
  for (let at = 0; at < count; at += 1) {
    let index = 0;
    while (input.bits(1) === 1) {
      index += 1;
      if (index >= codes) throw invalid();
    }
    const [moved = 0] = order.splice(index, 1);
    order.unshift(moved);
    selectors[at] = moved;
  }
  return selectors;
}

/** A canonical Huffman code. A code of length n is in the table if it is at most `limit[n]`. */
interface Table {
  readonly limit: Int32Array;
  readonly base: Int32Array;
  readonly order: Uint16Array;
  readonly shortest: number;
}

function readTable(input: BitInput, symbols: number): Table {
  const lengths = new Uint8Array(symbols);
  let length = input.bits(5);
  for (let symbol = 0; symbol < symbols; symbol += 1) {
    for (;;) {
      if (length < 1 || length > maxCodeLength) throw invalid();
      if (input.bits(1) === 0) break;
      length += input.bits(1) === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  const order = new Uint16Array(symbols);
  const limit = new Int32Array(maxCodeLength + 2).fill(-1);
  const base = new Int32Array(maxCodeLength + 2);
  let placed = 0;
  let code = 0;
  let shortest = maxCodeLength;
  for (let size = 1; size <= maxCodeLength; size += 1) {
    const before = placed;
    for (let symbol = 0; symbol < symbols; symbol += 1) {
      if (lengths[symbol] !== size) continue;
      order[placed] = symbol;
      placed += 1;
    }
    base[size] = before - code;
    code += placed - before;
    if (placed > before) {
      limit[size] = code - 1;
      shortest = Math.min(shortest, size);
    }
    code *= 2;
  }
  return { limit, base, order, shortest };
}

function readSymbol(input: BitInput, { limit, base, order, shortest }: Table): number {
  let length = shortest;
  let code = input.bits(length);
  for (; length <= maxCodeLength; length += 1) {
    const last = limit[length] ?? -1;
    if (code <= last) return order[code + (base[length] ?? 0)] ?? fail();
    code = code * 2 + input.bits(1);
  }
  throw invalid();
}

function fail(): never {
  throw invalid();
}

interface BlockTables {
  readonly used: Uint8Array;
  readonly selectors: Uint8Array;
  readonly tables: readonly Table[];
  readonly blockSize: number;
}

/** Reads the symbols, undoes move to front, and counts each byte. */
function readSymbols(
  input: BitInput,
  { used, selectors, tables, blockSize }: BlockTables,
): { readonly symbols: Uint8Array; readonly counts: Int32Array } {
  const bytes = new Uint8Array(blockSize);
  const counts = new Int32Array(256);
  const front = Uint8Array.from(used);
  const endSymbol = used.length + 1;
  let size = 0;
  let run = 0;
  let weight = 1;
  const endRun = () => {
    if (run === 0) return;
    const byte = front[0] ?? 0;
    if (size + run > blockSize) throw invalid();
    bytes.fill(byte, size, size + run);
    counts[byte] = (counts[byte] ?? 0) + run;
    size += run;
    run = 0;
    weight = 1;
  };
  for (const selector of selectors) {
    const table = tables[selector] ?? fail();
    for (let at = 0; at < groupSize; at += 1) {
      const symbol = readSymbol(input, table);
      if (symbol <= 1) {
        run += weight << symbol;
        weight *= 2;
        if (run > blockSize) throw invalid();
        continue;
      }
      endRun();
      if (symbol === endSymbol) return { symbols: bytes.subarray(0, size), counts };
      const index = symbol - 1;
      const byte = front[index] ?? fail();
      front.copyWithin(1, 0, index);
      front[0] = byte;
      if (size >= blockSize) throw invalid();
      bytes[size] = byte;
      size += 1;
      counts[byte] = (counts[byte] ?? 0) + 1;
    }
  }
  throw invalid();
}

/** Returns the successor of each position of the transformed block. */
function invert(symbols: Uint8Array, counts: Int32Array): Int32Array {
  const starts = new Int32Array(256);
  let sum = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    starts[byte] = sum;
    sum += counts[byte] ?? 0;
  }
  const next = new Int32Array(symbols.length);
  for (let at = 0; at < symbols.length; at += 1) {
    const byte = symbols[at] ?? 0;
    const start = starts[byte] ?? 0;
    next[start] = at;
    starts[byte] = start + 1;
  }
  return next;
}

/** Walks the block in its order. Four equal bytes are followed by the number of further ones. */
function* expandRuns(next: Int32Array, symbols: Uint8Array, origin: number, expectedSum: number): Generator<Buffer> {
  let output = Buffer.allocUnsafe(outputBytes);
  let size = 0;
  let sum = 0xffffffff;
  let at = next[origin] ?? 0;
  let last = -1;
  let equal = 0;
  for (let done = 0; done < symbols.length; done += 1) {
    const byte = symbols[at] ?? 0;
    at = next[at] ?? 0;
    let repeats = 1;
    if (equal === 4) {
      repeats = byte;
      equal = 0;
    } else {
      equal = byte === last ? equal + 1 : 1;
      last = byte;
    }
    for (; repeats > 0; repeats -= 1) {
      output[size] = last;
      size += 1;
      sum = ((sum << 8) ^ (sumTable[(sum >>> 24) ^ last] ?? 0)) >>> 0;
    }
    if (size > outputBytes - 256) {
      yield output.subarray(0, size);
      output = Buffer.allocUnsafe(outputBytes);
      size = 0;
    }
  }
  if ((sum ^ 0xffffffff) >>> 0 !== expectedSum) {
    throw new S3Error('InvalidCompressionFormat', 'A block of bzip2 is damaged: its checksum differs.');
  }
  if (size > 0) yield output.subarray(0, size);
}

/** The table of CRC-32 with the highest bit first. */
const sumTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = (byte << 24) >>> 0;
  for (let bit = 0; bit < 8; bit += 1) value = ((value << 1) ^ (value >= 0x80000000 ? 0x04c11db7 : 0)) >>> 0;
  return value;
});
