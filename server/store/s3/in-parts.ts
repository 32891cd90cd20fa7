/** A client may send single bytes: so many pieces are joined at once however small, or their buffers would outweigh them. */
const PIECES = 1024;

export interface BodyPart {
  readonly bytes: Buffer;
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
      const bytes = part.join();
      part = new Gathered();
      yield { bytes, last: false };
    }
    part.add(rest);
  }
  yield { bytes: part.join(), last: true };
}

class Gathered {
  size = 0;
  readonly #blocks: Buffer[] = [];
  #pieces: Buffer[] = [];

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (this.#pieces.push(piece) < PIECES) return;
    this.#blocks.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }

  join(): Buffer {
    const pieces = [...this.#blocks, ...this.#pieces];
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, this.size);
  }
}
