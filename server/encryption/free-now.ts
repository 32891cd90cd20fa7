/**
 * Gives back the memory of what a cipher returned, in whole, which must be the caller's alone and used no more: the buffer is empty
 * afterwards.
 *
 * Such memory lies outside V8's heap. Left to V8, the next package gets other memory, cold in the processor's cache, and after some MiB
 * V8 marks its heap: of 8 ms for 8 MiB deciphered, this saves 2 to 3 (docs/decisions/0027-encryption-speed.md).
 */
export function freeNow({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
