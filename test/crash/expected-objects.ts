import type { Content, Witness } from './witness.ts';

/**
 * What clients were told about each key, and so what a server may show after it was killed. One writer at a time changes a key, so
 * at most the last change of each is in doubt.
 */
export class ExpectedObjects implements Witness {
  readonly #acknowledged = new Map<string, Content>();
  readonly #inDoubt = new Map<string, Content>();
  acknowledgements = 0;

  begin(key: string, content: Content): void {
    this.#inDoubt.set(key, content);
  }

  acknowledge(key: string): void {
    this.#acknowledged.set(key, this.#inDoubt.get(key));
    this.#inDoubt.delete(key);
    this.acknowledgements += 1;
  }

  refuse(key: string): void {
    this.#inDoubt.delete(key);
  }

  get keys(): readonly string[] {
    return [...new Set([...this.#acknowledged.keys(), ...this.#inDoubt.keys()])];
  }

  isThere(key: string): boolean {
    return this.#acknowledged.get(key) !== undefined;
  }

  /** What is wrong with what a server shows, if anything. */
  complaint(key: string, shown: Content): string | undefined {
    const allowed = [this.#acknowledged.get(key)];
    if (this.#inDoubt.has(key)) allowed.push(this.#inDoubt.get(key));
    if (allowed.includes(shown)) return undefined;
    return `${key} is ${shown ?? 'absent'}, where ${allowed.map((content) => content ?? 'absent').join(' or ')} was answered`;
  }

  /** What a restarted server shows is what it goes on from. */
  settle(key: string, shown: Content): void {
    this.#acknowledged.set(key, shown);
    this.#inDoubt.delete(key);
  }
}
