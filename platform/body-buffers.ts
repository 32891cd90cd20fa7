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
 * They lie outside V8's heap, which lets 64 MiB of them go by in each thread before it looks: two threads that stream kept 130 MiB of
 * rubbish. They die young, so a minor collection finds them; it takes well under a millisecond and is due every 8 MiB.
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
