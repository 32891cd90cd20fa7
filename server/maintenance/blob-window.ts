import type { BlobId } from '../store/blob-store.ts';

const ID_BYTES = 16;

/** Blob ids in ascending order, 16 bytes each, and which of them were seen: a million takes 16 MiB. */
export class BlobWindow {
  readonly #ids: Buffer;
  readonly #seen: Uint8Array;
  readonly #capacity: number;
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#ids = Buffer.alloc(capacity * ID_BYTES);
    this.#seen = new Uint8Array(Math.ceil(capacity / 8));
  }

  get size(): number {
    return this.#count;
  }

  get full(): boolean {
    return this.#count === this.#capacity;
  }

  clear(): void {
    this.#count = 0;
    this.#seen.fill(0);
  }

  /** Ids come in ascending order. */
  add(id: BlobId): void {
    this.#ids.write(id, this.#count * ID_BYTES, 'hex');
    this.#count += 1;
  }

  see(id: BlobId): void {
    const wanted = Buffer.from(id, 'hex');
    // A damaged record may name what is no id: no blob has it, and comparing it would throw.
    if (wanted.length !== ID_BYTES) return;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#ids.compare(wanted, 0, ID_BYTES, middle * ID_BYTES, (middle + 1) * ID_BYTES);
      if (order === 0) {
        this.#seen[middle >>> 3] = (this.#seen[middle >>> 3] ?? 0) | (1 << (middle & 7));
        return;
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
  }

  *unseen(): Generator<BlobId> {
    for (let index = 0; index < this.#count; index += 1) {
      if (((this.#seen[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0) continue;
      yield this.#ids.toString('hex', index * ID_BYTES, (index + 1) * ID_BYTES) as BlobId;
    }
  }
}
