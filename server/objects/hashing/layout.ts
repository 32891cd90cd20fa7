/**
 * The layout of the memory that HTTP threads share with their hashing thread, in bytes. An upload has a **slot**: a block of control
 * words and some buffers. The HTTP thread fills buffers and submits them by number; the hashing thread takes them in order. Each word
 * has one writer, and the two counters say which words may be read.
 */

/** The store writes buffers with direct I/O: they begin at pages of 4 KiB. */
export const BUFFER_BYTES = 512 * 1024;
/**
 * One buffer is filled while others are hashed and written. With four instead of eight, fewer streams were hashed together, and a PUT
 * of 8 MiB cost 15 % more.
 */
export const BUFFERS = 8;
/** The slots of an HTTP thread, 16 MiB. The HTTP thread itself hashes uploads beyond that. */
export const SLOTS = 4;
/** The count of HTTP threads that share a hashing thread. */
export const SHARE = 4;

/** The word that wakes the hashing thread when it changes. */
export const DOORBELL = 0;
/** The word that is 1 from the moment when the hashing thread takes buffers. */
export const RUNNING = 1;
/** The states of four streams, word by word, while they are hashed. */
export const LANES = 512;
/** The 64 constants of MD5. */
export const CONSTANTS = 1024;
const CONTROL = 4096;
const CONTROL_BYTES = 512;
const FIRST_BUFFER = 65_536;

/** The words of a slot's control block, counted from its first: the state of the hash, then the counters. */
export const SUBMITTED = 4;
export const HASHED = 5;
/** Address and length of each submitted buffer, by its number modulo `RING`. */
const RING_WORDS = 16;
const RING = 16;
/** The end of the message, with its padding: two blocks. */
const TAIL = 256;
export const TAIL_BYTES = 128;

export const slotsOf = (threads: number): number => SLOTS * Math.min(threads, SHARE);

export const memoryBytes = (threads: number): number => FIRST_BUFFER + slotsOf(threads) * BUFFERS * BUFFER_BYTES;

/** Index of the first control word of a slot. */
export const controlWord = (slot: number): number => (CONTROL + slot * CONTROL_BYTES) / 4;

/** Index of the word with the address of the submitted buffer with this number; its length follows. */
export const ringWord = (slot: number, number: number): number =>
  controlWord(slot) + RING_WORDS + 2 * (number & (RING - 1));

export const tailAddress = (slot: number): number => CONTROL + slot * CONTROL_BYTES + TAIL;

export const bufferAddress = (slot: number, buffer: number): number =>
  FIRST_BUFFER + (slot * BUFFERS + buffer) * BUFFER_BYTES;
