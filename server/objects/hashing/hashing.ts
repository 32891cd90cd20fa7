import {
  BELL,
  controlWord,
  HANDED,
  HASHED,
  LANES,
  PIECES,
  ringWord,
  tailAddress,
  memoryBytes,
  seatsOf,
  SHARE,
} from './layout.ts';
import { BLOCK, type HashLanes, md5Lanes } from './md5-module.ts';
import { PAGE, WebAssembly } from '../checksums/wasm-assembly.ts';
import { Seats } from './buffer-slots.ts';

/** The count of streams that are hashed together. */
const WIDTH = 4;
/** The count of blocks after which the thread looks for new streams: 64 KiB. */
const BLOCKS_AT_ONCE = 1024;
const URGENT = PIECES - 1;

/** Hashes the submitted buffers of each slot in their order, several slots together. */
export class HashingRounds {
  readonly #words: Int32Array;
  readonly #update: HashLanes;
  readonly #seats: number;
  /** For each slot, the count of bytes of its first submitted buffer that are hashed. */
  readonly #done: Int32Array;
  /** The slot that is looked at first. It changes with each round. */
  #turn = 0;

  constructor(memory: SharedArrayBuffer, seats: number, update: HashLanes) {
    this.#words = new Int32Array(memory);
    this.#seats = seats;
    this.#update = update;
    this.#done = new Int32Array(seats);
  }

  /** Hashes some blocks of up to four streams. Returns false where there is nothing to hash. */
  next(): boolean {
    const ready = this.#ready();
    if (ready.length < WIDTH && !ready.some((seat) => this.#cannotWait(seat))) return false;
    let blocks = BLOCKS_AT_ONCE;
    const addresses = ready.map((seat) => {
      const { address, left } = this.#first(seat);
      blocks = Math.min(blocks, left / BLOCK);
      return address;
    });
    for (const [lane, seat] of ready.entries()) this.#copy(controlWord(seat), 1, LANES / 4 + lane, WIDTH);
    // A lane without a stream hashes the bytes of the first.
    const [first = 0, second = first, third = first, fourth = first] = addresses;
    this.#update(first, second, third, fourth, blocks);
    for (const [lane, seat] of ready.entries()) {
      this.#copy(LANES / 4 + lane, WIDTH, controlWord(seat), 1);
      this.#advance(seat, blocks * BLOCK);
    }
    this.#turn = ((ready.at(-1) ?? 0) + 1) % this.#seats;
    return true;
  }

  /**
   * Four streams cost as much as one: a stream waits for others while its client has buffers left to fill, and does not wait at its
   * end.
   */
  #cannotWait(seat: number): boolean {
    const control = controlWord(seat);
    const handed = this.#words[control + HANDED] ?? 0;
    const outstanding = (handed - (this.#words[control + HASHED] ?? 0)) | 0;
    return outstanding >= URGENT || this.#words[ringWord(seat, handed - 1)] === tailAddress(seat);
  }

  /** Waits until the bell has rung since it was `seen`. */
  wait(seen: number): void {
    Atomics.wait(this.#words, BELL, seen);
  }

  bell(): number {
    return Atomics.load(this.#words, BELL);
  }

  #ready(): number[] {
    const ready: number[] = [];
    for (let looked = 0; looked < this.#seats && ready.length < WIDTH; looked += 1) {
      const seat = (this.#turn + looked) % this.#seats;
      const control = controlWord(seat);
      if (Atomics.load(this.#words, control + HANDED) !== this.#words[control + HASHED]) ready.push(seat);
    }
    return ready;
  }

  #first(seat: number): { readonly address: number; readonly left: number } {
    const at = ringWord(seat, this.#words[controlWord(seat) + HASHED] ?? 0);
    const [address = 0, length = 0] = this.#words.subarray(at, at + 2);
    const done = this.#done[seat] ?? 0;
    return { address: address + done, left: length - done };
  }

  #advance(seat: number, bytes: number): void {
    if (this.#first(seat).left > bytes) {
      this.#done[seat] = (this.#done[seat] ?? 0) + bytes;
      return;
    }
    this.#done[seat] = 0;
    const hashed = controlWord(seat) + HASHED;
    Atomics.add(this.#words, hashed, 1);
    Atomics.notify(this.#words, hashed);
  }

  /** Copies the four words of a state, with these distances between words. */
  #copy(from: number, fromStep: number, to: number, toStep: number): void {
    for (let word = 0; word < 4; word += 1) {
      this.#words[to + word * toStep] = this.#words[from + word * fromStep] ?? 0;
    }
  }
}

/** The memory that HTTP threads share with their hashing thread. The system allocates it as it is used. */
export interface HashingMemory {
  readonly buffer: SharedArrayBuffer;
}

/** The place of an HTTP thread: the memory, the count of threads that share it, and the index of this one. */
export interface HashingPlace {
  readonly memory: HashingMemory;
  readonly threads: number;
  readonly part: number;
}

/** Returns the place of each HTTP thread. */
export function hashingPlaces(threads: number): readonly HashingPlace[] {
  const groups = Array.from({ length: Math.ceil(threads / SHARE) }, (_, group) => {
    const members = Math.min(SHARE, threads - group * SHARE);
    const pages = Math.ceil(memoryBytes(members) / PAGE);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    return Array.from({ length: members }, (__, part) => ({ memory, threads: members, part }));
  });
  return groups.flat();
}

/** @param start called before the first large body: the hashing thread is not needed earlier */
export function seatsAt({ memory, part }: HashingPlace, start: () => void): Seats {
  return new Seats(memory.buffer, part, start);
}

/** Hashes for ever: the calling thread does nothing else until it ends. */
export function hashForEver(memory: HashingMemory, threads: number): never {
  const rounds = new HashingRounds(memory.buffer, seatsOf(threads), md5Lanes(memory));
  for (;;) {
    // The bell is read first: a buffer that is submitted after the round rings it again.
    const bell = rounds.bell();
    if (!rounds.next()) rounds.wait(bell);
  }
}
