import { CrcModule } from './crc-module.ts';

/** CRC-32C (Castagnoli), reflected: polynomial 0x1EDC6F41. @see RFC 3720, appendix B.4 */
export const CRC32C_POLYNOMIAL = 0x82f63b78n;

/** Made when first needed: its tables take some milliseconds. */
let module: CrcModule | undefined;
const state = new Uint32Array(2);

/** The checksum of `bytes` after those that gave `previous`, as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  module ??= new CrcModule(CRC32C_POLYNOMIAL);
  state[0] = ~previous;
  state[1] = 0;
  module.update(state, bytes);
  return ~(state[0] ?? 0) >>> 0;
}
