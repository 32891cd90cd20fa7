/** Keys that a simulated controller has yet to look at, each once, some ticks after what made it look. */
export class TickQueue {
  readonly #keys = new Set<string>();
  readonly #process: (key: string) => void;
  #scheduled: NodeJS.Immediate | undefined;
  #stopped = false;

  constructor(process: (key: string) => void) {
    this.#process = process;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#keys.add(key);
    this.#scheduled ??= setImmediate(() => this.#run());
  }

  stop(): void {
    this.#stopped = true;
    this.#keys.clear();
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
  }

  #run(): void {
    this.#scheduled = undefined;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) this.#process(key);
  }
}
