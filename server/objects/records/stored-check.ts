import type { Protection } from './object-record.ts';
import { type ByteCheck, checkOf } from '../checksums/block-sums.ts';

/** Returns a checksum of the stored bytes, which needs no key. Undefined where only the key can verify them. */
export function storedCheck(protection: Protection): ByteCheck | undefined {
  if (!('salt' in protection)) return checkOf(protection);
  const { stored, mac } = protection;
  if (mac !== undefined) return checkOf({ gmac: mac });
  return stored === undefined ? undefined : checkOf({ crc: stored });
}
