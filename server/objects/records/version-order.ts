import { hash } from 'node:crypto';
import { type Instant, instant, partsOfInstant } from '../contract/instant.ts';

/**
 * The place of a version among those of its key, from the oldest to the newest: 16 bytes in hexadecimal. 6 are the milliseconds of its time
 * since 1970, 3 the nanoseconds within them, and 7 break ties. That of a version made here is its id, and its 7 last bytes are random; before
 * format 4, those of the nanoseconds were random too. Compared as text.
 */
export type Order = string;

const DIGITS = 32;
const MILLISECOND_DIGITS = 12;
const NANOSECOND_DIGITS = 6;
const TIE_DIGITS = DIGITS - MILLISECOND_DIGITS - NANOSECOND_DIGITS;
const FIRST_TIE = '0'.repeat(TIE_DIGITS);
const LAST_TIE = 2n ** BigInt(TIE_DIGITS * 4);

/** `tie` has 7 bytes. */
export function orderAt(time: Instant, tie?: Buffer): Order {
  const { milliseconds, nanoseconds } = partsOfInstant(time);
  return (
    hex(milliseconds, MILLISECOND_DIGITS) + hex(nanoseconds, NANOSECOND_DIGITS) + (tie?.toString('hex') ?? FIRST_TIE)
  );
}

/**
 * Returns the order of a version from elsewhere. `rank` orders versions of the same time as they are elsewhere, from 1 to 65,535; without it
 * their ids decide.
 */
export function orderOfId(versionId: string, time: Instant, rank = 0): Order {
  const tie = hash('sha256', versionId, 'buffer').subarray(0, TIE_DIGITS / 2);
  tie.writeUInt16BE(rank);
  return orderAt(time, tie);
}

/** Returns the next order of the same time, for a version whose order another one has. */
export function orderAfter(order: Order): Order {
  const start = DIGITS - TIE_DIGITS;
  const next = (BigInt(`0x${order.slice(start)}`) + 1n) % LAST_TIE;
  return order.slice(0, start) + next.toString(16).padStart(TIE_DIGITS, '0');
}

/** Returns the time of a version from elsewhere. An order that was made here has random bytes in the place of the nanoseconds. */
export function timeOfOrder(order: Order): Instant {
  const nanoseconds = order.slice(MILLISECOND_DIGITS, MILLISECOND_DIGITS + NANOSECOND_DIGITS);
  return instant(millisecondsOf(order), Number.parseInt(nanoseconds, 16));
}

/** Returns the milliseconds of any order. */
export function millisecondsOf(order: Order): number {
  return Number.parseInt(order.slice(0, MILLISECOND_DIGITS), 16);
}

/** Reports if a text has the form of an order, as ids of versions made here have. */
export function isOrder(text: string): text is Order {
  return /^[0-9a-f]{32}$/.test(text);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
