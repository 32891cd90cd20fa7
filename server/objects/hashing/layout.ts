/**
 * Where things are in the memory that HTTP threads share with their hashing thread, in bytes.
 *
 * An upload has a **seat**: a block of control words and some pieces. The HTTP thread fills pieces and hands them over by number; the
 * hashing thread takes them in order. Each word is written by one of the two, and the two counters say which words may be read.
 */

/** Pieces are written to files too, past the page cache: they begin at pages of 4 KiB. */
export const PIECE_BYTES = 512 * 1024;
/** One is filled while others are hashed and written; with four instead of eight, fewer streams met, and a PUT of 8 MiB cost 15 % more. */
export const PIECES = 8;
/** Of an HTTP thread, 16 MiB. Uploads beyond are hashed in their own thread. */
export const SEATS = 4;
/** HTTP threads that share a hashing thread. */
export const SHARE = 4;

/** The bell that wakes the hashing thread: a number that changes. */
export const BELL = 0;
/** States of four streams, word by word, while they are hashed. */
export const LANES = 512;
/** The 64 constants of MD5. */
export const CONSTANTS = 1024;
const CONTROL = 4096;
const CONTROL_BYTES = 512;
const FIRST_PIECE = 65_536;

/** Words of a seat's control block, counted from its first: the state of the hash, then the counters. */
export const HANDED = 4;
export const HASHED = 5;
/** Of what is handed over, by its number modulo `RING`: its address and its length. */
const RING_WORDS = 16;
export const RING = 16;
/** The end of the message, with its padding: two blocks. */
const TAIL = 256;
export const TAIL_BYTES = 128;

export const seatsOf = (threads: number): number => SEATS * Math.min(threads, SHARE);

export const memoryBytes = (threads: number): number => FIRST_PIECE + seatsOf(threads) * PIECES * PIECE_BYTES;

/** Index of the first control word of a seat. */
export const controlWord = (seat: number): number => (CONTROL + seat * CONTROL_BYTES) / 4;

/** Index of the word with the address of what was handed over with this number; its length follows. */
export const ringWord = (seat: number, number: number): number =>
  controlWord(seat) + RING_WORDS + 2 * (number & (RING - 1));

export const tailAddress = (seat: number): number => CONTROL + seat * CONTROL_BYTES + TAIL;

export const pieceAddress = (seat: number, piece: number): number =>
  FIRST_PIECE + (seat * PIECES + piece) * PIECE_BYTES;
