import { CrcModule } from './crc-module.ts';

/** CRC-64/NVME, reflected: polynomial 0xAD93D23594C93659. @see NVM Express NVM Command Set Specification 1.0, section 5.2.1.3.4 */
export const CRC64NVME_POLYNOMIAL = 0x9a6c9329ac4bc9b5n;

/** Made when first needed: its tables take some milliseconds. */
let module: CrcModule | undefined;

/** A checksum in progress. */
export class Crc64Nvme {
  readonly #module = (module ??= new CrcModule(CRC64NVME_POLYNOMIAL));
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
