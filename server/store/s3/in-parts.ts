import { createHash } from 'node:crypto';

/** A client may send single bytes: so many pieces are joined at once however small, or their buffers would outweigh them. */
const PIECES = 1024;
const SMALL = 4096;

export interface BodyPart {
  readonly bytes: Buffer;
  /** In base64, as `Content-MD5` wants it. */
  readonly md5: string;
  readonly last: boolean;
}

/** A body in parts of exactly `size` bytes, the last one shorter or as long; at least one. A part is yielded when it is known whether it is the last. */
export async function* inParts(body: AsyncIterable<Buffer>, size: number): AsyncGenerator<BodyPart> {
  let part = new Gathered();
  for await (const chunk of body) {
    let rest = chunk;
    while (part.size + rest.length > size) {
      const room = size - part.size;
      part.add(rest.subarray(0, room));
      rest = rest.subarray(room);
      const full = part.join();
      part = new Gathered();
      yield { ...full, last: false };
    }
    part.add(rest);
  }
  yield { ...part.join(), last: true };
}

class Gathered {
  size = 0;
  readonly #blocks: Buffer[] = [];
  readonly #hash = createHash('md5');
  #small: Buffer[] = [];

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (piece.length >= SMALL) {
      this.#joinSmall();
      this.#take(piece);
      return;
    }
    if (this.#small.push(piece) >= PIECES) this.#joinSmall();
  }

  join(): { readonly bytes: Buffer; readonly md5: string } {
    this.#joinSmall();
    const [only] = this.#blocks;
    const bytes = this.#blocks.length === 1 && only !== undefined ? only : Buffer.concat(this.#blocks, this.size);
    return { bytes, md5: this.#hash.digest('base64') };
  }

  #joinSmall(): void {
    if (this.#small.length === 0) return;
    this.#take(Buffer.concat(this.#small));
    this.#small = [];
  }

  /** Hashed as it comes: a whole part at once would hold up the event loop for 15 ms. */
  #take(block: Buffer): void {
    this.#hash.update(block);
    this.#blocks.push(block);
  }
}
