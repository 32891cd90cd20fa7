import { KEY_LIMIT } from './keys.ts';
import type { Batch, Key } from './record-store.ts';

/** The longest value that engines take, in bytes. */
export const VALUE_LIMIT = 16 * 1024 * 1024;

/** A batch no engine takes: a mistake of the caller, found before anything is changed. */
export class InvalidBatch extends Error {
  override readonly name = 'InvalidBatch';
}

/** Throws `InvalidBatch` unless keys and values are within limits and no key is changed twice. */
export function checkBatch(batch: Batch): void {
  const changed: Key[] = [];
  for (const { key, value } of batch.put ?? []) {
    if (value.length > VALUE_LIMIT) {
      throw new InvalidBatch(`a value of ${value.length} bytes is longer than the ${VALUE_LIMIT} a record may have`);
    }
    changed.push(key);
  }
  for (const key of batch.delete ?? []) changed.push(key);
  for (const { key } of batch.add ?? []) changed.push(key);
  for (const key of changed) checkKey(key);
  for (const { key } of batch.expect ?? []) checkKey(key);
  // What the second of two changes of one key means would differ between engines.
  if (hasTwice(changed)) throw new InvalidBatch('a batch changes one key twice');
}

/** Few keys are compared with each other: most batches have two to four, and a set needs a text for each. */
const FEW = 8;

function hasTwice(keys: readonly Key[]): boolean {
  if (keys.length > FEW) return new Set(keys.map((key) => key.toString('latin1'))).size < keys.length;
  return keys.some((key, at) => keys.some((other, next) => next > at && other.equals(key)));
}

export function checkKey(key: Key): void {
  if (key.length === 0 || key.length > KEY_LIMIT) {
    throw new InvalidBatch(`a key of ${key.length} bytes is not between 1 and ${KEY_LIMIT} bytes long`);
  }
}

/** The value of a counter record: a signed 64-bit integer, big-endian. */
export function encodeCounter(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt.asIntN(64, value));
  return bytes;
}

/** An absent record counts as 0. Throws for a value that is no counter. */
export function decodeCounter(value: Buffer | undefined): bigint {
  if (value === undefined) return 0n;
  if (value.length !== 8) throw new RangeError(`a value of ${value.length} bytes is no counter: counters have 8`);
  return value.readBigInt64BE();
}
