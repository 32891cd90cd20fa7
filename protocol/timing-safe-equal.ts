import { timingSafeEqual as equalBytes } from 'node:crypto';

/**
 * Compares a value that a caller sent with a secret. The time depends on the length of the first value alone, so that a caller learns
 * neither where the two differ nor how long the secret is.
 *
 * @example
 *     timingSafeEqual('sent', 'secret'); // false
 */
export function timingSafeEqual(sent: string | Uint8Array, secret: string | Uint8Array): boolean {
  const [left, right] = [bytesOf(sent), bytesOf(secret)];
  const sameLength = left.length === right.length;
  return equalBytes(left, sameLength ? right : left) && sameLength;
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value;
}
