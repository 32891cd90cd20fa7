import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Checksum } from '../object-layer.ts';
import { crc32c } from './crc-32c.ts';
import { Crc64Nvme } from './crc-64-nvme.ts';

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
