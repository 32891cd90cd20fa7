/** The kind of sender of a body. Unauthenticated senders share a small part, so that they cannot take the memory of authenticated ones. */
export type BodySender = 'known' | 'stranger';

/**
 * The maximum bytes of request bodies that are in memory as a whole (documents, forms, small objects), over all threads of the server.
 * Bodies that stream through do not count: each has a few buffers.
 */
export const maxBodyMemory: Readonly<Record<BodySender, number>> = {
  known: 256 * 1024 * 1024,
  stranger: 8 * 1024 * 1024,
};

const cells = { known: 0, stranger: 1 } as const;

/** Makes the shared memory in which all threads count. */
export function sharedBodyMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** The budget for the memory of bodies, as one thread uses it. */
export class BodyMemory {
  readonly #held: Int32Array;
  readonly #max: Readonly<Record<BodySender, number>>;

  constructor(shared: SharedArrayBuffer = sharedBodyMemory(), max = maxBodyMemory) {
    this.#held = new Int32Array(shared);
    this.#max = max;
  }

  /** Reserves bytes until the caller releases them. Returns false if the budget is used up. */
  take(bytes: number, sender: BodySender): boolean {
    const before = Atomics.add(this.#held, cells[sender], bytes);
    if (before + bytes <= this.#max[sender]) return true;
    Atomics.sub(this.#held, cells[sender], bytes);
    return false;
  }

  give(bytes: number, sender: BodySender): void {
    Atomics.sub(this.#held, cells[sender], bytes);
  }

  held(sender: BodySender): number {
    return Atomics.load(this.#held, cells[sender]);
  }
}
