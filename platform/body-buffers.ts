import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BufferPool } from './buffer-pool.ts';

const KiB = 1024;

/** Room for the tags of encrypted packages of 64 KiB, so that reads can end with a package. */
const TAGS = 4 * KiB;

/**
 * What this thread reads bodies into that go out at once. 512 KiB stay in a processor's cache between the read, the check and the socket;
 * of the sizes tried, reads of it took the least processor time. A small buffer
 * holds a block of a plain body, which must be whole to be checked. A hundred slow clients hold 29 MiB: 8 large buffers, else small ones.
 */
export const bodyBuffers = new BufferPool({
  large: 512 * KiB + TAGS,
  mostLarge: 8,
  small: 256 * KiB + TAGS,
  keptSmall: 16,
});

type Collect = (options: { readonly type: 'minor' }) => void;

/** Bytes of bodies that pass through a thread between two collections: with 8 MiB uploads of 1 GiB peaked at 296 and 320 MiB, with 2 at 260. */
const BETWEEN = 2 * KiB * KiB;

let collect: Collect | undefined;
let passed = 0;

/**
 * Told of each piece of a body that passes through this thread in a buffer of its own; now and then collects the buffers that nothing
 * refers to any more.
 *
 * They lie outside V8's heap, which lets many of them go by, in each thread, before it looks. They die young, so a minor collection
 * finds them. Without it the server passed 300 MiB: docs/decisions/0004-memory-of-bodies.md.
 */
export function bodyBytesPassed(bytes: number): void {
  passed += bytes;
  if (passed < BETWEEN) return;
  passed = 0;
  collect ??= exposeCollector();
  collect({ type: 'minor' });
}

function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
