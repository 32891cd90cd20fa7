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
