import {
  DOORBELL,
  RUNNING,
  controlWord,
  SUBMITTED,
  HASHED,
  BUFFER_BYTES,
  bufferAddress,
  BUFFERS,
  ringWord,
  SLOTS,
  tailAddress,
  TAIL_BYTES,
} from './layout.ts';
import { BLOCK, INITIAL } from './md5-module.ts';

/** A filled chunk of a slot, and the function that frees its memory. */
export interface SlotChunk {
  readonly bytes: Buffer;
  release(): void;
}

/** The buffer slots of an HTTP thread, which its hashing thread reads. */
export class BufferSlots {
  readonly #memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #start: () => void;
  /** The slot that was released last is used first: its pages are in memory. */
  readonly #free: number[];

  /**
   * @param part the index of this thread among the HTTP threads of the hashing thread
   * @param start called for each upload until the hashing thread runs: it is not needed earlier, and may fail to start
   */
  constructor(memory: SharedArrayBuffer, part: number, start: () => void) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#start = start;
    this.#free = Array.from({ length: SLOTS }, (_, slot) => part * SLOTS + slot).reverse();
  }

  /** Returns undefined where all slots are in use, and before the hashing thread runs: then this thread hashes the upload. */
  take(): BufferSlot | undefined {
    if (Atomics.load(this.#words, RUNNING) === 1) return this.#take(true);
    this.#start();
    return undefined;
  }

  /** Takes a slot for its page-aligned memory alone: its content is not hashed. */
  takeUnhashed(): BufferSlot | undefined {
    return this.#take(false);
  }

  #take(hashed: boolean): BufferSlot | undefined {
    const slot = this.#free.pop();
    if (slot === undefined) return undefined;
    return new BufferSlot(this.#memory, slot, { hashed, leave: () => this.#free.push(slot) });
  }
}

/** The buffers of one upload, and its MD5 in progress on the hashing thread. */
export class BufferSlot {
  readonly #memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #slot: number;
  readonly #control: number;
  readonly #hashed: boolean;
  readonly #leave: () => void;
  readonly #stored: (Promise<void> | undefined)[] = Array.from({ length: BUFFERS });
  readonly #submitted: (number | undefined)[] = Array.from({ length: BUFFERS });
  #buffer = 0;
  #total = 0;
  #tail: Buffer = Buffer.alloc(0);
  #digest: Promise<Buffer> | undefined;

  /** @param leave called once, when nothing refers to the buffers any more */
  constructor(
    memory: SharedArrayBuffer,
    slot: number,
    { hashed, leave }: { readonly hashed: boolean; readonly leave: () => void },
  ) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#slot = slot;
    this.#control = controlWord(slot);
    this.#hashed = hashed;
    this.#leave = leave;
    this.#words.set(INITIAL, this.#control);
  }

  /** Returns the next buffer to fill. Undefined while its previous content is not hashed and stored: `bufferFree` waits for that. */
  nextBuffer(): Buffer | undefined {
    const number = this.#submitted[this.#buffer];
    const hashed = number === undefined || this.#isHashed(number);
    if (!hashed || this.#stored[this.#buffer] !== undefined) return undefined;
    return Buffer.from(this.#memory, bufferAddress(this.#slot, this.#buffer), BUFFER_BYTES);
  }

  async bufferFree(): Promise<void> {
    await this.#stored[this.#buffer];
    const number = this.#submitted[this.#buffer];
    if (number !== undefined) await this.#untilHashed(number);
  }

  /** Submits the first `length` bytes of that buffer. Only the last buffer of an upload may be partly filled. */
  submit(length: number): SlotChunk {
    const buffer = this.#buffer;
    const address = bufferAddress(this.#slot, buffer);
    const whole = this.#hashed ? length - (length % BLOCK) : 0;
    this.#submitted[buffer] = whole > 0 ? this.#submit(address, whole) : undefined;
    if (this.#hashed) this.#tail = Buffer.from(this.#memory, address + whole, length - whole);
    this.#total += length;
    this.#buffer = (buffer + 1) % BUFFERS;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stored[buffer] = promise;
    const release = () => {
      this.#stored[buffer] = undefined;
      resolve();
    };
    return { bytes: Buffer.from(this.#memory, address, length), release };
  }

  /** Resolves to the MD5 of all submitted bytes. The last buffer must not be filled again before. Throws for an unhashed slot. */
  digest(): Promise<Buffer> {
    if (!this.#hashed) throw new Error('this slot is not hashed');
    return (this.#digest ??= this.#finish());
  }

  /** Releases the slot for the next upload. The caller calls this after the store is done with the buffers. */
  async leave(): Promise<void> {
    // This also ends the hash of a body that broke off: the hashing thread would otherwise wait for more.
    if (this.#hashed) await this.digest();
    this.#leave();
  }

  async #finish(): Promise<Buffer> {
    const end = padding(this.#tail, this.#total);
    const address = tailAddress(this.#slot);
    end.copy(Buffer.from(this.#memory, address, TAIL_BYTES));
    await this.#untilHashed(this.#submit(address, end.length));
    const digest = Buffer.alloc(16);
    for (let word = 0; word < 4; word += 1) digest.writeInt32LE(this.#words[this.#control + word] ?? 0, 4 * word);
    return digest;
  }

  #submit(address: number, length: number): number {
    const counter = this.#control + SUBMITTED;
    const number = Atomics.load(this.#words, counter);
    this.#words.set([address, length], ringWord(this.#slot, number));
    Atomics.store(this.#words, counter, number + 1);
    Atomics.add(this.#words, DOORBELL, 1);
    Atomics.notify(this.#words, DOORBELL);
    return number;
  }

  #isHashed(number: number): boolean {
    return isAfter(Atomics.load(this.#words, this.#control + HASHED), number);
  }

  async #untilHashed(number: number): Promise<void> {
    const counter = this.#control + HASHED;
    for (;;) {
      const seen = Atomics.load(this.#words, counter);
      if (isAfter(seen, number)) return;
      const waiting = Atomics.waitAsync(this.#words, counter, seen);
      if (waiting.async) await waiting.value;
    }
  }
}

/** The counters wrap around at 2^31: only their distance counts. */
function isAfter(counter: number, number: number): boolean {
  return ((counter - number) | 0) > 0;
}

/** Returns the end of a message of `total` bytes with its padding, from its last whole block on. */
export function padding(tail: Uint8Array, total: number): Buffer {
  const end = Buffer.alloc(tail.length + 1 + 8 <= BLOCK ? BLOCK : 2 * BLOCK);
  end.set(tail);
  end[tail.length] = 0x80;
  end.writeBigUInt64LE(BigInt.asUintN(64, BigInt(total) * 8n), end.length - 8);
  return end;
}
