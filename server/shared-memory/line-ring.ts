import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The last lines of text that the threads of the process wrote, in memory that they share. A reader needs no other thread, and no writer
 * waits for a reader. When the ring is full, new lines overwrite the oldest ones.
 *
 * A line is its length in four bytes and its bytes, and may wrap around the end of the memory. Positions count all bytes ever written. The
 * lock makes changes visible to other threads.
 */
export interface LineRing {
  /** Appends a line. Lines longer than an eighth of the memory are cut. */
  append(line: string): void;
  /** Reads the lines after a position, at most a few hundred KiB. */
  read(after: LinePlace): LinesRead;
  /** The position before the oldest line. */
  oldest(): LinePlace;
  /** The position after the newest line. */
  newest(): LinePlace;
}

/** A position: the number of lines before it, and the offset. */
interface LinePlace {
  readonly line: number;
  readonly position: number;
}

interface LinesRead {
  readonly lines: readonly string[];
  /** The number of lines that were overwritten before they were read. */
  readonly dropped: number;
  /** The position for the next read. */
  readonly next: LinePlace;
}

/** The words of the header: the lock, then four numbers of 64 bits. */
const lockWord = 0;
const headBytes = 40;
const [firstLine, firstPosition, nextLine, nextPosition] = [0, 1, 2, 3] as const;

const lengthBytes = 4;
/** The maximum bytes of one read. */
const maxRead = 256 * 1024;

export function lineRingMemory(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(headBytes + bytes);
}

export function openLineRing(memory: SharedArrayBuffer): LineRing {
  const words = new Int32Array(memory, 0, 1);
  const head = new Float64Array(memory, 8, 4);
  const ring = Buffer.from(memory, headBytes);
  const capacity = ring.length;
  const maxBytes = Math.floor(capacity / 8) - lengthBytes;
  const at = (name: 0 | 1 | 2 | 3): number => head[name] ?? 0;

  function locked<T>(work: () => T): T {
    // A thread holds the lock only while it copies a line.
    while (Atomics.compareExchange(words, lockWord, 0, 1) !== 0) Atomics.wait(words, lockWord, 1, 1);
    try {
      return work();
    } finally {
      Atomics.store(words, lockWord, 0);
      Atomics.notify(words, lockWord, 1);
    }
  }

  function put(bytes: Buffer, position: number): void {
    const start = position % capacity;
    const whole = Math.min(bytes.length, capacity - start);
    bytes.copy(ring, start, 0, whole);
    bytes.copy(ring, 0, whole);
  }

  function take(position: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    const start = position % capacity;
    const whole = Math.min(size, capacity - start);
    ring.copy(bytes, 0, start, start + whole);
    ring.copy(bytes, whole, 0, size - whole);
    return bytes;
  }

  const sizeAt = (position: number) => lengthBytes + take(position, lengthBytes).readUInt32LE();

  return {
    append(line) {
      const text = Buffer.from(line);
      const bytes = Buffer.allocUnsafe(lengthBytes + Math.min(text.length, maxBytes));
      bytes.writeUInt32LE(bytes.length - lengthBytes);
      text.copy(bytes, lengthBytes);
      locked(() => {
        while (at(nextPosition) + bytes.length - at(firstPosition) > capacity) {
          head[firstPosition] = at(firstPosition) + sizeAt(at(firstPosition));
          head[firstLine] = at(firstLine) + 1;
        }
        put(bytes, at(nextPosition));
        head[nextPosition] = at(nextPosition) + bytes.length;
        head[nextLine] = at(nextLine) + 1;
      });
    },

    read(after) {
      return locked(() => {
        const dropped = Math.max(0, at(firstLine) - after.line);
        let { line, position } = dropped > 0 ? { line: at(firstLine), position: at(firstPosition) } : after;
        const lines: string[] = [];
        const end = Math.min(at(nextPosition), position + maxRead);
        while (position < end) {
          const size = sizeAt(position);
          lines.push(take(position + lengthBytes, size - lengthBytes).toString());
          position += size;
          line += 1;
        }
        return { lines, dropped, next: { line, position } };
      });
    },

    oldest: () => locked(() => ({ line: at(firstLine), position: at(firstPosition) })),
    newest: () => locked(() => ({ line: at(nextLine), position: at(nextPosition) })),
  };
}

/** The polling interval in milliseconds. */
const lookMs = 100;

export interface FollowedLines {
  readonly lines: readonly string[];
  /** The number of lines before these that were overwritten before they were read. */
  readonly dropped: number;
}

/** Yields the lines after a position, and new ones, until the signal aborts it. A slow reader misses lines. */
export async function* followLines(
  ring: LineRing,
  after: LinePlace,
  signal: AbortSignal,
): AsyncGenerator<FollowedLines, void> {
  let place = after;
  while (!signal.aborted) {
    const { lines, dropped, next } = ring.read(place);
    place = next;
    if (lines.length > 0 || dropped > 0) yield { lines, dropped };
    else await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
}
