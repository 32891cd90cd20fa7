import {
  DOORBELL,
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
  MAX_DIRECT,
  MAX_HELD,
  WAITING,
} from './layout.ts';
import { BLOCK, INITIAL } from './md5-module.ts';

/** A filled chunk of a slot, and the function that frees its memory. */
export interface SlotChunk {
  readonly bytes: Buffer;
  release(): void;
}

/** The buffers of an HTTP thread. Its uploads share them. */
class BufferPool {
  readonly #memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #part: number;
  /** The buffer that was given back last is used first: its pages are in memory. */
  readonly #free = Array.from({ length: BUFFERS }, (_, buffer) => buffer).reverse();
  readonly #waiting: ((buffer: number) => void)[] = [];

  constructor(memory: SharedArrayBuffer, part: number) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#part = part;
  }

  address(buffer: number): number {
    return bufferAddress(this.#part, buffer);
  }

  bytes(buffer: number, length = BUFFER_BYTES): Buffer {
    return Buffer.from(this.#memory, this.address(buffer), length);
  }

  take(): number | undefined {
    return this.#free.pop();
  }

  /** Resolves to the next buffer that is given back. Uploads get them in the order of their calls. */
  async wait(): Promise<number> {
    Atomics.add(this.#words, WAITING, 1);
    ring(this.#words);
    try {
      return await new Promise((resolve) => {
        this.#waiting.push(resolve);
      });
    } finally {
      Atomics.sub(this.#words, WAITING, 1);
    }
  }

  giveBack(buffer: number): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(buffer);
    else next(buffer);
  }
}

/** The slots and the buffers of an HTTP thread, which its hashing thread reads. */
export class BufferSlots {
  readonly #memory: SharedArrayBuffer;
  readonly #pool: BufferPool;
  readonly #start: () => void;
  readonly #free: number[];
  #started = false;
  /** The count of uploads that write their file directly. */
  #direct = 0;

  /**
   * @param part the index of this thread among the HTTP threads of the hashing thread
   * @param start called before the first upload: the hashing thread is not needed earlier
   */
  constructor(memory: SharedArrayBuffer, part: number, start: () => void) {
    this.#memory = memory;
    this.#pool = new BufferPool(memory, part);
    this.#start = start;
    this.#free = Array.from({ length: SLOTS }, (_, slot) => part * SLOTS + slot).reverse();
  }

  /** Returns undefined where all slots are in use: then the upload uses none. */
  take(): BufferSlot | undefined {
    const slot = this.#take(true);
    if (slot === undefined) return undefined;
    if (!this.#started) this.#start();
    this.#started = true;
    return slot;
  }

  /** Takes a slot for page-aligned memory alone: its content is not hashed. */
  takeUnhashed(): BufferSlot | undefined {
    return this.#take(false);
  }

  #take(hashed: boolean): BufferSlot | undefined {
    const slot = this.#free.pop();
    if (slot === undefined) return undefined;
    let direct = false;
    return new BufferSlot(this.#memory, slot, {
      pool: this.#pool,
      hashed,
      mayWriteDirectly: () => {
        if (this.#direct === MAX_DIRECT) return false;
        this.#direct++;
        return (direct = true);
      },
      leave: () => {
        this.#free.push(slot);
        if (direct) this.#direct--;
      },
    });
  }
}

interface BufferSlotOptions {
  readonly pool: BufferPool;
  readonly hashed: boolean;
  /** Called once at most. */
  readonly mayWriteDirectly: () => boolean;
  /** Called once, when nothing refers to the slot any more. */
  readonly leave: () => void;
}

/** The buffers of one upload, and its MD5 in progress on the hashing thread. */
export class BufferSlot {
  readonly #memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #slot: number;
  readonly #control: number;
  readonly #pool: BufferPool;
  readonly #hashed: boolean;
  /** Returns true where the store may write the file of this upload past the page cache. The caller asks once. */
  readonly mayWriteDirectly: () => boolean;
  readonly #leave: () => void;
  /** The buffers of the pool that this upload has, the one that is filled included. */
  readonly #held = new Set<number>();
  #filled: number | undefined;
  #whenFreed: (() => void) | undefined;
  #total = 0;
  #tail: Buffer = Buffer.alloc(0);
  #digest: Promise<Buffer> | undefined;

  constructor(memory: SharedArrayBuffer, slot: number, { pool, hashed, mayWriteDirectly, leave }: BufferSlotOptions) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#slot = slot;
    this.#control = controlWord(slot);
    this.#pool = pool;
    this.#hashed = hashed;
    this.mayWriteDirectly = mayWriteDirectly;
    this.#leave = leave;
    this.#words.set(INITIAL, this.#control);
  }

  /** Returns the next buffer to fill. Undefined while none is free for this upload: `bufferFree` waits for that. */
  nextBuffer(): Buffer | undefined {
    if (this.#filled === undefined && this.#held.size < MAX_HELD) this.#fill(this.#pool.take());
    return this.#filled === undefined ? undefined : this.#pool.bytes(this.#filled);
  }

  async bufferFree(): Promise<void> {
    while (this.#held.size >= MAX_HELD) {
      await new Promise<void>((resolve) => {
        this.#whenFreed = resolve;
      });
    }
    const buffer = this.#pool.take() ?? (await this.#pool.wait());
    this.#fill(buffer);
  }

  #fill(buffer: number | undefined): void {
    if (buffer === undefined) return;
    this.#filled = buffer;
    this.#held.add(buffer);
  }

  /** Submits the first `length` bytes of that buffer. Only the last buffer of an upload may be partly filled. */
  submit(length: number): SlotChunk {
    const buffer = this.#filled;
    if (buffer === undefined) throw new Error('no buffer is being filled');
    this.#filled = undefined;
    const bytes = this.#pool.bytes(buffer, length);
    const whole = this.#hashed ? length - (length % BLOCK) : 0;
    const number = whole > 0 ? this.#submit(this.#pool.address(buffer), whole) : undefined;
    // Another upload may fill the buffer before the digest is asked for.
    if (this.#hashed) this.#tail = Buffer.from(bytes.subarray(whole));
    this.#total += length;
    const release = () => {
      if (number === undefined || this.#isHashed(number)) this.#giveBack(buffer);
      else void this.#untilHashed(number).then(() => this.#giveBack(buffer));
    };
    return { bytes, release };
  }

  /** A buffer goes back once: after the release of its chunk, or when the slot is left. */
  #giveBack(buffer: number): void {
    if (!this.#held.delete(buffer)) return;
    this.#pool.giveBack(buffer);
    this.#whenFreed?.();
  }

  /** Resolves to the MD5 of all submitted bytes. Throws for an unhashed slot. */
  digest(): Promise<Buffer> {
    if (!this.#hashed) throw new Error('this slot is not hashed');
    return (this.#digest ??= this.#finish());
  }

  /** Releases the slot and its buffers for other uploads. The caller calls this after the store is done with the buffers. */
  async leave(): Promise<void> {
    // This also ends the hash of a body that broke off: the hashing thread would otherwise wait for more.
    if (this.#hashed) await this.digest();
    for (const buffer of this.#held) this.#giveBack(buffer);
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
    ring(this.#words);
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

/** Wakes the hashing thread. */
function ring(words: Int32Array): void {
  Atomics.add(words, DOORBELL, 1);
  Atomics.notify(words, DOORBELL);
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
