import { Bodies } from '../generator/body.ts';

/** A size of objects, and how many of them a load handles. */
export interface Size {
  readonly name: string;
  readonly bytes: number;
  /** New objects that one second of PUT may take: more than any server here writes. */
  readonly writtenPerSecond: number;
  /** New objects of one round of PUT at most: it ends with them where it does not end by time. */
  readonly written: number;
  /** Objects that GET and HEAD go through. */
  readonly read: number;
  /** Objects that one round of DELETE removes. */
  readonly deleted: number;
}

export const sizes: readonly Size[] = [
  { name: '4KiB', bytes: 4_096, writtenPerSecond: 30_000, written: 150_000, read: 4_000, deleted: 10_000 },
  { name: '64KiB', bytes: 65_536, writtenPerSecond: 6_000, written: 20_000, read: 2_000, deleted: 4_000 },
  { name: '8MiB', bytes: 8_388_608, writtenPerSecond: 150, written: 512, read: 32, deleted: 128 },
];

/** New objects for one round of PUT. */
export function writtenIn(size: Size, seconds: number): number {
  return Math.max(1, Math.min(size.written, Math.ceil(size.writtenPerSecond * seconds)));
}

const made = new Map<number, Bodies>();

export function bodiesOf(bytes: number): Bodies {
  const known = made.get(bytes) ?? new Bodies(bytes);
  made.set(bytes, known);
  return known;
}
