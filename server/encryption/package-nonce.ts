/**
 * The nonces of one stream: 96 bits, whether it is the last package, three zero bytes, the index. Each is written over the one before,
 * which a cipher has copied.
 */
export class PackageNonce {
  readonly #bytes = Buffer.alloc(12);

  of(index: number, last: boolean): Buffer {
    this.#bytes[0] = last ? 1 : 0;
    this.#bytes.writeUInt32BE(Math.floor(index / 2 ** 32), 4);
    this.#bytes.writeUInt32BE(index % 2 ** 32, 8);
    return this.#bytes;
  }
}
