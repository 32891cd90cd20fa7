import type { OperatorEvent } from '../../reconcile/reconciler-options.ts';

const paint = { red: '\u001b[31m', yellow: '\u001b[33m', dim: '\u001b[2m', reset: '\u001b[0m' };

/** Prints the events of the operator at the terminal, one line each. */
export class Terminal {
  readonly #stream: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly #now: () => Date;

  constructor(stream: { write(text: string): unknown; readonly isTTY?: boolean }, now: () => Date) {
    this.#stream = stream;
    this.#now = now;
  }

  event({ ref, type, reason, message }: OperatorEvent): void {
    const what = type === 'Warning' ? this.#paint('yellow', reason) : reason;
    this.#line(`${ref.kind}/${ref.name}`, `${what}: ${message}`);
  }

  issue(message: string): void {
    this.#line('operator', this.#paint('red', message));
  }

  childLine(workload: string, line: string): void {
    this.#line(workload, line);
  }

  say(message: string): void {
    this.#line('operator', message);
  }

  #line(who: string, what: string): void {
    const time = this.#now().toTimeString().slice(0, 8);
    this.#stream.write(`${this.#paint('dim', time)} ${this.#paint('dim', who.padEnd(28))} ${what}\n`);
  }

  #paint(colour: 'red' | 'yellow' | 'dim', text: string): string {
    return this.#stream.isTTY === true ? `${paint[colour]}${text}${paint.reset}` : text;
  }
}
