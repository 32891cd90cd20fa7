import {
  DOORBELL,
  RUNNING,
  controlWord,
  SUBMITTED,
  HASHED,
  LANES,
  BUFFERS,
  ringWord,
  tailAddress,
  memoryBytes,
  slotsOf,
  SHARE,
} from './layout.ts';
import { BLOCK, type HashLanes, md5Lanes } from './md5-module.ts';
import { PAGE, WebAssembly } from '../../../platform/checksums/wasm-assembly.ts';
import { BufferSlots } from './buffer-slots.ts';

/** The count of streams that are hashed together. */
const WIDTH = 4;
/** The count of blocks after which the thread looks for new streams: 64 KiB. */
const BLOCKS_AT_ONCE = 1024;
const URGENT = BUFFERS - 1;

/** Hashes the submitted buffers of each slot in their order, several slots together. */
export class HashingRounds {
  readonly #words: Int32Array;
  readonly #update: HashLanes;
  readonly #slots: number;
  /** For each slot, the count of bytes of its first submitted buffer that are hashed. */
  readonly #done: Int32Array;
  /** The slot that is looked at first. It changes with each round. */
  #nextSlot = 0;

  constructor(memory: SharedArrayBuffer, bufferSlots: number, update: HashLanes) {
    this.#words = new Int32Array(memory);
    this.#slots = bufferSlots;
    this.#update = update;
    this.#done = new Int32Array(bufferSlots);
    Atomics.store(this.#words, RUNNING, 1);
  }

  /** Hashes some blocks of up to four streams. Returns false where there is nothing to hash. */
  next(): boolean {
    const ready = this.#ready();
    if (ready.length < WIDTH && !ready.some((slot) => this.#cannotWait(slot))) return false;
    let blocks = BLOCKS_AT_ONCE;
    const addresses = ready.map((slot) => {
      const { address, left } = this.#first(slot);
      blocks = Math.min(blocks, left / BLOCK);
      return address;
    });
    for (const [lane, slot] of ready.entries()) this.#copy(controlWord(slot), 1, LANES / 4 + lane, WIDTH);
    // A lane without a stream hashes the bytes of the first.
    const [first = 0, second = first, third = first, fourth = first] = addresses;
    this.#update(first, second, third, fourth, blocks);
    for (const [lane, slot] of ready.entries()) {
      this.#copy(LANES / 4 + lane, WIDTH, controlWord(slot), 1);
      this.#advance(slot, blocks * BLOCK);
    }
    this.#nextSlot = ((ready.at(-1) ?? 0) + 1) % this.#slots;
    return true;
  }

  /**
   * Four streams cost as much as one: a stream waits for others while its client has buffers left to fill, and does not wait at its
   * end.
   */
  #cannotWait(slot: number): boolean {
    const control = controlWord(slot);
    const submitted = this.#words[control + SUBMITTED] ?? 0;
    const outstanding = (submitted - (this.#words[control + HASHED] ?? 0)) | 0;
    return outstanding >= URGENT || this.#words[ringWord(slot, submitted - 1)] === tailAddress(slot);
  }

  /** Waits until the bell has rung since it was `seen`. */
  wait(seen: number): void {
    Atomics.wait(this.#words, DOORBELL, seen);
  }

  doorbell(): number {
    return Atomics.load(this.#words, DOORBELL);
  }

  #ready(): number[] {
    const ready: number[] = [];
    for (let looked = 0; looked < this.#slots && ready.length < WIDTH; looked += 1) {
      const slot = (this.#nextSlot + looked) % this.#slots;
      const control = controlWord(slot);
      if (Atomics.load(this.#words, control + SUBMITTED) !== this.#words[control + HASHED]) ready.push(slot);
    }
    return ready;
  }

  #first(slot: number): { readonly address: number; readonly left: number } {
    const at = ringWord(slot, this.#words[controlWord(slot) + HASHED] ?? 0);
    const [address = 0, length = 0] = this.#words.subarray(at, at + 2);
    const done = this.#done[slot] ?? 0;
    return { address: address + done, left: length - done };
  }

  #advance(slot: number, bytes: number): void {
    if (this.#first(slot).left > bytes) {
      this.#done[slot] = (this.#done[slot] ?? 0) + bytes;
      return;
    }
    this.#done[slot] = 0;
    const hashed = controlWord(slot) + HASHED;
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
interface HashingMemory {
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

/** Reports if the hashing thread of a place takes buffers. */
export function isHashing({ memory }: Pick<HashingPlace, 'memory'>): boolean {
  return Atomics.load(new Int32Array(memory.buffer), RUNNING) === 1;
}

/** @param start called for each large body until the hashing thread runs: it is not needed earlier */
export function bufferSlotsAt({ memory, part }: HashingPlace, start: () => void): BufferSlots {
  return new BufferSlots(memory.buffer, part, start);
}

/** Hashes for ever: the calling thread does nothing else until it ends. */
export function runHashing(memory: HashingMemory, threads: number): never {
  const rounds = new HashingRounds(memory.buffer, slotsOf(threads), md5Lanes(memory));
  for (;;) {
    // The bell is read first: a buffer that is submitted after the round rings it again.
    const doorbell = rounds.doorbell();
    if (!rounds.next()) rounds.wait(doorbell);
  }
}
