/** Lets those who want the same thing in this thread have it one after the other, in the order in which they asked. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when it is the caller's turn; the caller then calls what it resolved to, whatever happens, to end its turn. */
  async take(name: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last.get(name);
    this.#last.set(name, promise);
    await before;
    return () => {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
  }
}
