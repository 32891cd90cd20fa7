import { createWriteStream, existsSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const maxBytes = 16 * 1024 * 1024;
const rememberedLines = 20;
const levels: Readonly<Record<string, string>> = { '40': 'warn', '50': 'error', '60': 'fatal' };

/** The log file of one workload; what it wrote last is remembered for the message of a crash. */
export class ChildLog {
  readonly path: string;
  readonly #warning: (line: string) => void;
  readonly #everything: boolean;
  #file: WriteStream | undefined;
  #size = 0;
  #last: string[] = [];

  /** `warning` gets lines of level warn and above, or every line where `everything`. */
  constructor(path: string, warning: (line: string) => void, everything: boolean) {
    this.path = path;
    this.#warning = warning;
    this.#everything = everything;
  }

  follow(stream: Readable): void {
    const lines = createInterface({ input: stream, crlfDelay: Infinity });
    lines.on('line', (line) => this.#line(line));
  }

  /** What went wrong, as far as the program told: its last error, else its last line. */
  lastWords(): string {
    const warning = this.#last.map(warningOf).findLast((line) => line !== undefined);
    return (warning ?? this.#last.at(-1) ?? 'it wrote nothing').slice(0, 1_000);
  }

  forget(): void {
    this.#last = [];
  }

  close(): void {
    this.#file?.end();
    this.#file = undefined;
  }

  #line(line: string): void {
    this.#write(`${line}\n`);
    if (line.trim() === '') return;
    this.#last = [...this.#last.slice(1 - rememberedLines), line];
    const warning = this.#everything ? line : warningOf(line);
    if (warning !== undefined) this.#warning(warning);
  }

  #write(text: string): void {
    if (this.#file === undefined || this.#size > maxBytes) this.#open();
    this.#size += Buffer.byteLength(text);
    this.#file?.write(text);
  }

  #open(): void {
    this.#file?.end();
    const size = existsSync(this.path) ? statSync(this.path).size : 0;
    if (size > maxBytes) renameSync(this.path, `${this.path}.1`);
    this.#size = size > maxBytes ? 0 : size;
    this.#file = createWriteStream(this.path, { flags: 'a', mode: 0o600 });
    // A full disk must not take the operator down with it.
    this.#file.on('error', () => undefined);
  }
}

/** The message of a JSON log line of level warn or above. */
function warningOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: unknown; msg?: unknown; err?: { message?: unknown } };
    const name = levels[String(level)] ?? (typeof level === 'string' ? level : '');
    if (!['warn', 'error', 'fatal'].includes(name)) return undefined;
    const cause = typeof err?.message === 'string' && err.message !== msg ? `: ${err.message}` : '';
    return `${name} ${typeof msg === 'string' ? msg : ''}${cause}`;
  } catch {
    return undefined;
  }
}
