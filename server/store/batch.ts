import { KEY_LIMIT } from './keys.ts';
import type { Batch, Key } from './record-store.ts';

/** The maximum length of a value in bytes. */
export const VALUE_LIMIT = 16 * 1024 * 1024;

/** Throws `RangeError` unless keys and values are within limits and no key is changed twice. */
export function checkBatch(batch: Batch): void {
  const changed: Key[] = [];
  for (const { key, value } of batch.put ?? []) {
    if (value.length > VALUE_LIMIT) {
      throw new RangeError(`a value of ${value.length} bytes is longer than the ${VALUE_LIMIT} a record may have`);
    }
    changed.push(key);
  }
  for (const key of batch.delete ?? []) changed.push(key);
  for (const { key } of batch.add ?? []) changed.push(key);
  for (const key of changed) checkKey(key);
  for (const { key } of batch.expect ?? []) checkKey(key);
  // Engines would apply two changes of one key in different orders.
  if (hasTwice(changed)) throw new RangeError('a batch changes one key twice');
}

/** Up to this many keys are compared pairwise. Most batches have two to four keys, and a set needs a string for each. */
const FEW = 8;

function hasTwice(keys: readonly Key[]): boolean {
  if (keys.length > FEW) return new Set(keys.map((key) => key.toString('latin1'))).size < keys.length;
  return keys.some((key, at) => keys.some((other, next) => next > at && other.equals(key)));
}

export function checkKey(key: Key): void {
  if (key.length === 0 || key.length > KEY_LIMIT) {
    throw new RangeError(`a key of ${key.length} bytes is not between 1 and ${KEY_LIMIT} bytes long`);
  }
}

/** Encodes the value of a counter record: a signed 64-bit integer, big-endian. */
export function encodeCounter(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt.asIntN(64, value));
  return bytes;
}

/** Decodes a counter; an absent record counts as 0. Throws `RangeError` for a value that is not a counter. */
export function decodeCounter(value: Buffer | undefined): bigint {
  if (value === undefined) return 0n;
  if (value.length !== 8) throw new RangeError(`a value of ${value.length} bytes is not a counter: counters have 8`);
  return value.readBigInt64BE();
}
