import { createHash } from 'node:crypto';

/** Bytes at the front of every body that differ from object to object. */
export const stampBytes = 16;

const MiB = 2 ** 20;
/** The same in every run, so that a later one can verify what an earlier one wrote. */
const noise = createHash('shake256', { outputLength: MiB }).update('coffer bench').digest();

/**
 * The bodies of one size: a stamp of the object's number, then bytes that all of them share. So every object has contents of its own,
 * and nothing has to be kept of it.
 */
export class Bodies {
  readonly size: number;
  readonly tail: Buffer;

  constructor(size: number) {
    if (size < stampBytes) throw new RangeError(`a body of ${size} bytes has no room for its stamp of ${stampBytes}`);
    this.size = size;
    this.tail = Buffer.alloc(size - stampBytes);
    // No MiB like the one before: it is shifted by one byte.
    for (let at = 0, shift = 0; at < this.tail.length; at += MiB - shift, shift += 1) {
      noise.copy(this.tail, at, shift);
    }
  }

  stamp(number: number): string {
    return number.toString(16).padStart(stampBytes, '0');
  }

  matches(number: number, body: Buffer): boolean {
    return (
      body.length === this.size &&
      body.toString('latin1', 0, stampBytes) === this.stamp(number) &&
      this.tail.equals(body.subarray(stampBytes))
    );
  }

  sha256(number: number): string {
    return createHash('sha256').update(this.stamp(number)).update(this.tail).digest('hex');
  }
}
