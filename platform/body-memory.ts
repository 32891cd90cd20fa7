/** Who sends a body: strangers share a small part, so that they cannot take the memory of callers who are known. */
export type BodySender = 'known' | 'stranger';

/**
 * Bytes of request bodies that are held in memory as a whole (documents, forms, small objects), over all threads of the server. Bodies
 * that stream through are not counted: each has a few buffers.
 */
export const maxBodyMemory: Readonly<Record<BodySender, number>> = {
  known: 256 * 1024 * 1024,
  stranger: 8 * 1024 * 1024,
};

const cells = { known: 0, stranger: 1 } as const;

/** What all threads count in. */
export function sharedBodyMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** The memory of bodies as one thread sees it. */
export class BodyMemory {
  readonly #held: Int32Array;
  readonly #max: Readonly<Record<BodySender, number>>;

  constructor(shared: SharedArrayBuffer = sharedBodyMemory(), max = maxBodyMemory) {
    this.#held = new Int32Array(shared);
    this.#max = max;
  }

  /** Whether there is room; then the bytes count until they are given back. */
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
