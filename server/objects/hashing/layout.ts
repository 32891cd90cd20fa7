/**
 * The layout of the memory that HTTP threads share with their hashing thread, in bytes. An upload has a **slot**: a block of control
 * words and some buffers. The HTTP thread fills buffers and submits them by number; the hashing thread takes them in order. Each word
 * has one writer, and the two counters say which words may be read.
 */

/** The store writes buffers with direct I/O: they begin at pages of 4 KiB. */
export const PIECE_BYTES = 512 * 1024;
/**
 * One buffer is filled while others are hashed and written. With four instead of eight, fewer streams were hashed together, and a PUT
 * of 8 MiB cost 15 % more.
 */
export const PIECES = 8;
/** The slots of an HTTP thread, 16 MiB. The HTTP thread itself hashes uploads beyond that. */
export const SEATS = 4;
/** The count of HTTP threads that share a hashing thread. */
export const SHARE = 4;

/** The word that wakes the hashing thread when it changes. */
export const BELL = 0;
/** The states of four streams, word by word, while they are hashed. */
export const LANES = 512;
/** The 64 constants of MD5. */
export const CONSTANTS = 1024;
const CONTROL = 4096;
const CONTROL_BYTES = 512;
const FIRST_PIECE = 65_536;

/** The words of a slot's control block, counted from its first: the state of the hash, then the counters. */
export const HANDED = 4;
export const HASHED = 5;
/** Address and length of each submitted buffer, by its number modulo `RING`. */
const RING_WORDS = 16;
export const RING = 16;
/** The end of the message, with its padding: two blocks. */
const TAIL = 256;
export const TAIL_BYTES = 128;

export const seatsOf = (threads: number): number => SEATS * Math.min(threads, SHARE);

export const memoryBytes = (threads: number): number => FIRST_PIECE + seatsOf(threads) * PIECES * PIECE_BYTES;

/** Index of the first control word of a seat. */
export const controlWord = (seat: number): number => (CONTROL + seat * CONTROL_BYTES) / 4;

/** Index of the word with the address of the submitted buffer with this number; its length follows. */
export const ringWord = (seat: number, number: number): number =>
  controlWord(seat) + RING_WORDS + 2 * (number & (RING - 1));

export const tailAddress = (seat: number): number => CONTROL + seat * CONTROL_BYTES + TAIL;

export const pieceAddress = (seat: number, piece: number): number =>
  FIRST_PIECE + (seat * PIECES + piece) * PIECE_BYTES;
