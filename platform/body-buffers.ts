import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' }) => void;

/** Bytes of bodies that pass through a thread between two collections. */
const BETWEEN = 8 * 1024 * 1024;

let collect: Collect | undefined;
let passed = 0;

/**
 * Told of each piece of a body that passes through this thread; now and then collects the buffers that nothing refers to any more.
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
