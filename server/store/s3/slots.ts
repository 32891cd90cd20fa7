/** How many parts may be on their way beyond the one that every upload may send at any time. */
export class Slots {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot if one is free; what is returned gives it back. */
  take(): (() => void) | undefined {
    if (this.#free === 0) return undefined;
    this.#free -= 1;
    return () => {
      this.#free += 1;
    };
  }
}
