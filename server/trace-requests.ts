import { followLines } from '../platform/follow-lines.ts';
import type { FollowedLines } from '../platform/follow-lines.ts';
import type { LineRing } from '../platform/line-ring.ts';
import type { RequestEvents } from './access/request-events.ts';
import { traceLine } from './admin/trace-line.ts';

/**
 * The requests of all threads, for who wants to see them. A thread writes down its own only while somebody looks on, whichever thread
 * they ask: the main thread counts them (`tracing`) and tells all (`trace`).
 */
export class RequestTraces {
  readonly #events: RequestEvents;
  readonly #ring: LineRing;
  readonly #node: () => string;
  #unsubscribe: (() => void) | undefined;

  constructor(events: RequestEvents, ring: LineRing, node: () => string) {
    this.#events = events;
    this.#ring = ring;
    this.#node = node;
  }

  /** Whether this thread writes down its requests. */
  set(on: boolean): void {
    if (on) {
      const write = (line: object) => this.#ring.append(JSON.stringify(line));
      this.#unsubscribe ??= this.#events.subscribe((finished) => write(traceLine(finished, this.#node())));
    } else {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    }
  }

  async *follow(signal: AbortSignal, watching: (watchers: 1 | -1) => void): AsyncGenerator<FollowedLines, void> {
    const from = this.#ring.newest();
    watching(1);
    try {
      yield* followLines(this.#ring, from, signal);
    } finally {
      watching(-1);
    }
  }
}
