import type { Piece } from '../../store/blob-store.ts';
import {
  BELL,
  controlWord,
  HANDED,
  HASHED,
  PIECE_BYTES,
  pieceAddress,
  PIECES,
  ringWord,
  SEATS,
  tailAddress,
  TAIL_BYTES,
} from './layout.ts';
import { BLOCK, INITIAL } from './md5-module.ts';

/** The seats of an HTTP thread at its hashing thread. */
export class Seats {
  readonly #memory: SharedArrayBuffer;
  readonly #start: () => void;
  /** The last one that was left is taken first: its pages are in memory already. */
  readonly #free: number[];
  #started = false;

  /** @param part of the hashing thread's HTTP threads. @param start is called before the first upload: the thread is not needed earlier. */
  constructor(memory: SharedArrayBuffer, part: number, start: () => void) {
    this.#memory = memory;
    this.#start = start;
    this.#free = Array.from({ length: SEATS }, (_, seat) => part * SEATS + seat).reverse();
  }

  /** Undefined where all are taken: then the upload does without. */
  take(): Seat | undefined {
    const seat = this.#take(true);
    if (seat === undefined) return undefined;
    if (!this.#started) this.#start();
    this.#started = true;
    return seat;
  }

  /** A seat for its memory alone, which begins at pages: nothing that is handed over is hashed. */
  takeUnhashed(): Seat | undefined {
    return this.#take(false);
  }

  #take(hashed: boolean): Seat | undefined {
    const seat = this.#free.pop();
    if (seat === undefined) return undefined;
    return new Seat(this.#memory, seat, { hashed, leave: () => this.#free.push(seat) });
  }
}

/** The memory of one upload, and its MD5, in progress on the hashing thread. */
export class Seat {
  readonly #memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #seat: number;
  readonly #control: number;
  readonly #hashed: boolean;
  readonly #leave: () => void;
  readonly #stored: (Promise<void> | undefined)[] = Array.from({ length: PIECES });
  readonly #handed: (number | undefined)[] = Array.from({ length: PIECES });
  #piece = 0;
  #total = 0;
  #tail: Buffer = Buffer.alloc(0);
  #digest: Promise<Buffer> | undefined;

  /** @param leave is called once, when nobody refers to the seat's pieces any more */
  constructor(
    memory: SharedArrayBuffer,
    seat: number,
    { hashed, leave }: { readonly hashed: boolean; readonly leave: () => void },
  ) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#seat = seat;
    this.#control = controlWord(seat);
    this.#hashed = hashed;
    this.#leave = leave;
    this.#words.set(INITIAL, this.#control);
  }

  /** The next piece to be filled. Undefined while what it held is not hashed and stored: `emptied` waits for that. */
  empty(): Buffer | undefined {
    const number = this.#handed[this.#piece];
    const hashed = number === undefined || this.#isHashed(number);
    if (!hashed || this.#stored[this.#piece] !== undefined) return undefined;
    return Buffer.from(this.#memory, pieceAddress(this.#seat, this.#piece), PIECE_BYTES);
  }

  async emptied(): Promise<void> {
    await this.#stored[this.#piece];
    const number = this.#handed[this.#piece];
    if (number !== undefined) await this.#untilHashed(number);
  }

  /** Hands over the first `length` bytes of that piece. Only the last piece of an upload may be filled in part. */
  hand(length: number): Piece {
    const piece = this.#piece;
    const address = pieceAddress(this.#seat, piece);
    const whole = this.#hashed ? length - (length % BLOCK) : 0;
    this.#handed[piece] = whole > 0 ? this.#tell(address, whole) : undefined;
    if (this.#hashed) this.#tail = Buffer.from(this.#memory, address + whole, length - whole);
    this.#total += length;
    this.#piece = (piece + 1) % PIECES;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stored[piece] = promise;
    const release = () => {
      this.#stored[piece] = undefined;
      resolve();
    };
    return { bytes: Buffer.from(this.#memory, address, length), release };
  }

  /** Of all that was handed over, while its last piece is not filled again. Throws where nothing is hashed. */
  digest(): Promise<Buffer> {
    if (!this.#hashed) throw new Error('this seat hashes nothing');
    return (this.#digest ??= this.#finish());
  }

  /** To be called in the end, when the store has done with the pieces: the next upload may take the seat. */
  async leave(): Promise<void> {
    // The end of a body that broke off, too: nothing else makes the hashing thread hurry.
    if (this.#hashed) await this.digest();
    this.#leave();
  }

  async #finish(): Promise<Buffer> {
    const end = padding(this.#tail, this.#total);
    const address = tailAddress(this.#seat);
    end.copy(Buffer.from(this.#memory, address, TAIL_BYTES));
    await this.#untilHashed(this.#tell(address, end.length));
    const digest = Buffer.alloc(16);
    for (let word = 0; word < 4; word += 1) digest.writeInt32LE(this.#words[this.#control + word] ?? 0, 4 * word);
    return digest;
  }

  #tell(address: number, length: number): number {
    const counter = this.#control + HANDED;
    const number = Atomics.load(this.#words, counter);
    this.#words.set([address, length], ringWord(this.#seat, number));
    Atomics.store(this.#words, counter, number + 1);
    Atomics.add(this.#words, BELL, 1);
    Atomics.notify(this.#words, BELL);
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

/** The counters pass 2^31 and go on below zero: what counts is how far they are apart. */
function isAfter(counter: number, number: number): boolean {
  return ((counter - number) | 0) > 0;
}

/** The end of a message of so many bytes, from its last whole block on. */
export function padding(tail: Uint8Array, total: number): Buffer {
  const end = Buffer.alloc(tail.length + 1 + 8 <= BLOCK ? BLOCK : 2 * BLOCK);
  end.set(tail);
  end[tail.length] = 0x80;
  end.writeBigUInt64LE(BigInt.asUintN(64, BigInt(total) * 8n), end.length - 8);
  return end;
}
