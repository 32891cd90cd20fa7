/** Records in memory under ordered keys. Bytes travel as latin1 strings, whose order is the order of the bytes. */
export class SortedRecords<T> {
  readonly #keys: string[] = [];
  readonly #values = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#position(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#position(key), 1);
  }

  /** The first key at or after this one. */
  atOrAfter(key: string): string | undefined {
    return this.#keys[this.#position(key)];
  }

  /** The last key before this one. */
  before(key: string): string | undefined {
    return this.#keys[this.#position(key) - 1];
  }

  /** How many keys sort before this one. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
