import { lineRingMemory } from '../platform/line-ring.ts';
import type { LiveMemory } from './thread-messages.ts';

/** Bytes: some thousand lines of the log, and as many requests with their headers. The system gives memory only where it is written. */
const sizes = { log: 512 * 1024, requests: 2 * 1024 * 1024 } as const;

export function liveMemory(): LiveMemory {
  return { log: lineRingMemory(sizes.log), requests: lineRingMemory(sizes.requests) };
}
