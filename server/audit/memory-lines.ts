import type { WaitingBounds, WaitingLines } from './waiting-lines.ts';

/** Lines that one answer has at most. */
const mostAtOnce = 256;

/** Entries that wait in memory: a restart loses them. */
export class MemoryLines implements WaitingLines {
  readonly #bounds: WaitingBounds;
  #waiting: string[] = [];
  #underWay: readonly string[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  push(line: string): boolean {
    if (this.count >= this.#bounds.lines || this.#bytes + line.length > this.#bounds.bytes) return false;
    this.#waiting.push(line);
    this.#bytes += line.length;
    this.#wake();
    return true;
  }

  async next(): Promise<readonly string[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#underWay = this.#waiting.splice(0, mostAtOnce);
    return this.#underWay;
  }

  done(): Promise<void> {
    for (const { length } of this.#underWay) this.#bytes -= length;
    this.#underWay = [];
    return Promise.resolve();
  }

  end(): Promise<void> {
    this.#ended = true;
    this.#wake();
    return Promise.resolve();
  }
}
