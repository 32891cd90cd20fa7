import type { Checksum } from '../contract/object-layer.ts';
import { CRC32C_POLYNOMIAL, CRC64NVME_POLYNOMIAL } from '../../../platform/checksums/hashers.ts';

/** A reflected CRC that starts and ends with an exclusive or of all ones. */
interface CrcKind {
  readonly polynomial: bigint;
  readonly bits: number;
}

const kinds = {
  CRC32: { polynomial: 0xedb88320n, bits: 32 },
  CRC32C: { polynomial: CRC32C_POLYNOMIAL, bits: 32 },
  CRC64NVME: { polynomial: CRC64NVME_POLYNOMIAL, bits: 64 },
} as const satisfies Record<string, CrcKind>;

type CrcAlgorithm = keyof typeof kinds;

export function isCrc(algorithm: Checksum['algorithm']): algorithm is CrcAlgorithm {
  return Object.hasOwn(kinds, algorithm);
}

/**
 * Computes the CRC of a body from those of its parts: appending n bytes multiplies by x^8n, so no byte is read again. Digests are
 * big-endian. Throws `RangeError` when there is no part.
 */
export function combineCrcs(
  algorithm: CrcAlgorithm,
  parts: readonly { readonly digest: Buffer; readonly size: number }[],
): Buffer {
  const kind = kinds[algorithm];
  // Most parts have the same size, and the power is the costly half.
  const powers = new Map<number, bigint>();
  let combined: bigint | undefined;
  for (const { digest, size } of parts) {
    const crc = digest.length * 8 === kind.bits ? BigInt(`0x${digest.toString('hex')}`) : undefined;
    if (crc === undefined) throw new RangeError(`a ${algorithm} has ${kind.bits} bits, not ${digest.length * 8}`);
    const power = powers.get(size) ?? powerOfX(size, kind);
    powers.set(size, power);
    combined = combined === undefined ? crc : multiply(combined, power, kind) ^ crc;
  }
  if (combined === undefined) throw new RangeError('there is no part to combine');
  return Buffer.from(combined.toString(16).padStart(kind.bits / 4, '0'), 'hex');
}

/** Polynomials over two elements modulo that of the CRC; the highest bit is the coefficient of x^0. */
function multiply(a: bigint, b: bigint, kind: CrcKind): bigint {
  let product = 0n;
  let shifted = b;
  for (let bit = BigInt(kind.bits - 1); bit >= 0n; bit -= 1n) {
    if (((a >> bit) & 1n) === 1n) product ^= shifted;
    shifted = (shifted & 1n) === 1n ? (shifted >> 1n) ^ kind.polynomial : shifted >> 1n;
  }
  return product;
}

/** x^(8·bytes), by squaring. */
function powerOfX(bytes: number, kind: CrcKind): bigint {
  let result = 1n << BigInt(kind.bits - 1);
  let square = 1n << BigInt(kind.bits - 9); // x^8
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(result, square, kind);
    square = multiply(square, square, kind);
  }
  return result;
}
