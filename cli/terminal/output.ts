import { once } from 'node:events';
import type { Io } from './io.ts';
import { describeError } from './describe-error.ts';

/** Prints messages for people, or with `--json` one line of JSON for each, errors included. */
export class Output {
  readonly json: boolean;
  readonly #io: Io;
  /** Set while a progress bar stands on the terminal's last line. */
  #wipe: (() => void) | undefined;

  constructor(io: Io, options: { readonly json: boolean }) {
    this.#io = io;
    this.json = options.json;
  }

  /** `fields` has `status: "success"` put before. `human` '' prints nothing for people. */
  message(human: string, fields: Readonly<Record<string, unknown>>): void {
    this.#wipe?.();
    if (this.json) this.#io.stdout.write(`${JSON.stringify({ status: 'success', ...fields })}\n`);
    else if (human !== '') this.#io.stdout.write(`${human}\n`);
  }

  /** One text for people, such as a table; of JSON a line for each. */
  list(human: string, items: readonly Readonly<Record<string, unknown>>[]): void {
    if (this.json) for (const item of items) this.message('', item);
    else this.message(human, {});
  }

  /** What to do next, for people. */
  hint(text: string): void {
    if (!this.json) this.message(text, {});
  }

  /** As `message`; waits while the reader is slow, so that a long listing is not held in memory. */
  async line(human: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    this.message(human, fields);
    if (this.#io.stdout.writableLength > 65_536) await this.drained();
  }

  async drained(): Promise<void> {
    if (this.#io.stdout.writableNeedDrain) await once(this.#io.stdout, 'drain', { signal: this.#io.signal });
  }

  /** `fatal` ends the command; `error` belongs to one argument of several. */
  error(failure: unknown, type: 'fatal' | 'error', context?: string): void {
    this.#wipe?.();
    const { message, cause, details } = describeError(failure, context);
    if (this.json) {
      const error = { message, cause: { message: cause, error: details }, type };
      this.#io.stdout.write(`${JSON.stringify({ status: 'error', error })}\n`);
    } else {
      this.#io.stderr.write(`coffer: <ERROR> ${message}.${cause === '' ? '' : ` ${cause}.`}\n`);
    }
  }

  warn(text: string): void {
    this.#wipe?.();
    if (!this.json) this.#io.stderr.write(`coffer: <WARNING> ${text}.\n`);
  }

  /** Called before anything is printed: takes a progress bar off the line. */
  beforeEach(wipe: (() => void) | undefined): void {
    this.#wipe = wipe;
  }
}
