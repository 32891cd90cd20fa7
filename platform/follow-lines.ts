import { setTimeout as sleep } from 'node:timers/promises';
import type { LinePlace, LineRing } from './line-ring.ts';

/** Milliseconds between looks for new lines. */
const lookMs = 100;

export interface FollowedLines {
  readonly lines: readonly string[];
  /** Lines before these that were overwritten before they were read. */
  readonly lost: number;
}

/** The lines after a place, and new ones as they come, until the signal ends it. Who asks for more slowly than they come misses some. */
export async function* followLines(
  ring: LineRing,
  after: LinePlace,
  signal: AbortSignal,
): AsyncGenerator<FollowedLines, void> {
  let place = after;
  while (!signal.aborted) {
    const { lines, lost, next } = ring.read(place);
    place = next;
    if (lines.length > 0 || lost > 0) yield { lines, lost };
    else await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
}
