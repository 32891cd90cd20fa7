import { CrcModule } from './crc-module.ts';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Checksum } from '../object-layer.ts';

/** CRC-32C (Castagnoli), reflected: polynomial 0x1EDC6F41. @see RFC 3720, appendix B.4 */
export const CRC32C_POLYNOMIAL = 0x82f63b78n;

/** Created on first use: the tables take some milliseconds. */
let crc32cModule: CrcModule | undefined;
const crc32cState = new Uint32Array(2);

/** Returns the CRC-32C of `bytes` after those that gave `previous`, as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  crc32cModule ??= new CrcModule(CRC32C_POLYNOMIAL);
  crc32cState[0] = ~previous;
  crc32cState[1] = 0;
  crc32cModule.update(crc32cState, bytes);
  return ~(crc32cState[0] ?? 0) >>> 0;
}

/** CRC-64/NVME, reflected: polynomial 0xAD93D23594C93659. @see NVM Express NVM Command Set Specification 1.0, section 5.2.1.3.4 */
export const CRC64NVME_POLYNOMIAL = 0x9a6c9329ac4bc9b5n;

/** Created on first use: the tables take some milliseconds. */
let crc64Module: CrcModule | undefined;

/** A checksum in progress. */
export class Crc64Nvme {
  readonly #module = (crc64Module ??= new CrcModule(CRC64NVME_POLYNOMIAL));
  /** Lower half, upper half. */
  readonly #state = Uint32Array.of(0xffff_ffff, 0xffff_ffff);

  update(bytes: Uint8Array): void {
    this.#module.update(this.#state, bytes);
  }

  /** 8 bytes, big-endian, as S3 writes them in base64. */
  digest(): Buffer {
    const [low = 0, high = 0] = this.#state;
    const digest = Buffer.alloc(8);
    digest.writeInt32BE(~high, 0);
    digest.writeInt32BE(~low, 4);
    return digest;
  }
}

/** A checksum in progress; `digest` is called once, at the end. */
export interface Hasher {
  update(bytes: Buffer): unknown;
  digest(): Buffer;
}

export function hasherOf(algorithm: Checksum['algorithm']): Hasher {
  switch (algorithm) {
    case 'CRC32':
      return new Crc32(crc32);
    case 'CRC32C':
      return new Crc32(crc32c);
    case 'CRC64NVME':
      return new Crc64Nvme();
    case 'SHA1':
      return createHash('sha1');
    case 'SHA256':
      return createHash('sha256');
  }
}

class Crc32 implements Hasher {
  readonly #step: (bytes: Buffer, previous: number) => number;
  #crc = 0;

  constructor(step: (bytes: Buffer, previous: number) => number) {
    this.#step = step;
  }

  update(bytes: Buffer): void {
    this.#crc = this.#step(bytes, this.#crc);
  }

  digest(): Buffer {
    const digest = Buffer.alloc(4);
    digest.writeUInt32BE(this.#crc);
    return digest;
  }
}
