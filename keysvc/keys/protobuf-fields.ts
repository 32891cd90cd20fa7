/** The fields of one protobuf message by their numbers; of a field that occurs twice the last counts. */
export interface ProtobufFields {
  readonly numbers: ReadonlyMap<number, number>;
  readonly bytes: ReadonlyMap<number, Buffer>;
}

export interface NoProtobuf {
  readonly problem: string;
}

const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
const fixed32 = 5;

export function isProtobuf(read: ProtobufFields | NoProtobuf): read is ProtobufFields {
  return 'bytes' in read;
}

/**
 * Reads one message without knowing its schema; nested messages are bytes. Numbers beyond 2^53 lose their last digits, which none of
 * ours reaches.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export function readProtobuf(data: Buffer): ProtobufFields | NoProtobuf {
  const numbers = new Map<number, number>();
  const bytes = new Map<number, Buffer>();
  let at = 0;
  while (at < data.length) {
    const tag = readVarint(data, at);
    if (tag === undefined) return { problem: 'a tag is cut off' };
    const field = Math.floor(tag.value / 8);
    const type = tag.value % 8;
    at = tag.end;
    if (type === varint) {
      const number = readVarint(data, at);
      if (number === undefined) return { problem: `field ${field} is cut off` };
      numbers.set(field, number.value);
      at = number.end;
      continue;
    }
    const length = type === lengthDelimited ? readVarint(data, at) : fixedLength(type, at);
    if (length === undefined) return { problem: `field ${field} has the type ${type}` };
    const end = length.end + length.value;
    if (end > data.length) return { problem: `field ${field} is cut off` };
    bytes.set(field, data.subarray(length.end, end));
    at = end;
  }
  return { numbers, bytes };
}

function fixedLength(type: number, at: number): { value: number; end: number } | undefined {
  if (type === fixed64) return { value: 8, end: at };
  return type === fixed32 ? { value: 4, end: at } : undefined;
}

/** Seven bits a byte, the lowest first; at most ten bytes. */
function readVarint(data: Buffer, start: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const byte = data[start + i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  return undefined;
}
