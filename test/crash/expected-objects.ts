import { type Content, IN_DOUBT, type Witness } from './witness.ts';

/**
 * What clients were told about each name, and so what a server may show after it was killed. One writer at a time changes a name, so
 * that only what it asked for since its last answer is in doubt.
 */
export class ExpectedObjects implements Witness {
  readonly #acknowledged = new Map<string, Content>();
  /** What was asked for without an answer, or with one that leaves it open, since the last acknowledgement. */
  readonly #inDoubt = new Map<string, Content[]>();
  acknowledgements = 0;

  begin(name: string, content: Content): void {
    this.#inDoubt.set(name, [...(this.#inDoubt.get(name) ?? []), content]);
  }

  acknowledge(name: string): void {
    this.#acknowledged.set(name, this.#inDoubt.get(name)?.at(-1));
    this.#inDoubt.delete(name);
    this.acknowledgements += 1;
  }

  refuse(name: string): void {
    const left = (this.#inDoubt.get(name) ?? []).slice(0, -1);
    if (left.length === 0) this.#inDoubt.delete(name);
    else this.#inDoubt.set(name, left);
  }

  known(name: string): Content | typeof IN_DOUBT {
    return this.#inDoubt.has(name) ? IN_DOUBT : this.#acknowledged.get(name);
  }

  get names(): readonly string[] {
    return [...new Set([...this.#acknowledged.keys(), ...this.#inDoubt.keys()])];
  }

  /** How many names have a change that was not answered. */
  get doubts(): number {
    return this.#inDoubt.size;
  }

  /** What is wrong with what a server shows, if anything. */
  complaint(name: string, shown: Content): string | undefined {
    const allowed = [this.#acknowledged.get(name), ...(this.#inDoubt.get(name) ?? [])];
    if (allowed.includes(shown)) return undefined;
    return `${name} is ${shown ?? 'absent'}, where ${allowed.map((content) => content ?? 'absent').join(' or ')} was answered`;
  }

  /** What a restarted server shows is what it goes on from. */
  settle(name: string, shown: Content): void {
    this.#acknowledged.set(name, shown);
    this.#inDoubt.delete(name);
  }
}
