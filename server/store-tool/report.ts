import { printable } from '../../platform/text/printable.ts';
import { counted } from '../../platform/text/message-text.ts';
import type { Issue } from '../maintenance/verify/issue.ts';

/** The streams, the environment and the interrupt signal of a command. */
export interface Io {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** The progress of a command, with the total if it is known. */
interface Progress {
  readonly what: string;
  readonly objects: number;
  readonly bytes: number;
  readonly total?: { readonly objects: number; readonly bytes: number };
}

/** Milliseconds between two updates of the progress: on a terminal, and as lines of JSON. */
const every = { terminal: 125, json: 5_000 } as const;

/** Prints issues, progress and results: as text, or with `--json` as one line of JSON each. */
export class Report {
  readonly json: boolean;
  readonly #io: Io;
  readonly #began = performance.now();
  #shownAt = -Infinity;
  #drawn = false;

  constructor(io: Io, options: { readonly json: boolean }) {
    this.#io = io;
    this.json = options.json;
  }

  issue(issue: Issue): void {
    this.line(`${issue.kind}: ${printable(issue.message)}`, { type: 'finding', ...issue });
  }

  /** A line on standard output. */
  line(text: string, record: object): void {
    this.wipe();
    this.#io.stdout.write(this.json ? `${JSON.stringify(record)}\n` : `${text}\n`);
  }

  /** Prints a note on standard error, unless the output is JSON. */
  note(text: string): void {
    this.wipe();
    if (!this.json) this.#io.stderr.write(`${text}\n`);
  }

  progress(progress: Progress): void {
    const terminal = !this.json && this.#io.stderr.isTTY === true;
    if (!terminal && !this.json) return;
    const now = performance.now();
    if (now - this.#shownAt < (terminal ? every.terminal : every.json)) return;
    this.#shownAt = now;
    const seconds = (now - this.#began) / 1_000;
    if (!terminal) {
      this.#io.stdout.write(`${JSON.stringify({ type: 'progress', seconds: Math.round(seconds), ...progress })}\n`);
      return;
    }
    this.#drawn = true;
    this.#io.stderr.write(`\r\u001b[K${progressLine(progress, seconds).slice(0, (this.#io.stderr.columns ?? 80) - 1)}`);
  }

  wipe(): void {
    if (this.#drawn) this.#io.stderr.write('\r\u001b[K');
    this.#drawn = false;
  }
}

/** Formats the progress and the remaining time as one line. */
function progressLine({ what, objects, bytes, total }: Progress, seconds: number): string {
  const speed = seconds > 0 ? bytes / seconds : 0;
  const looked = total ? `${objects} / ${counted(total.objects, 'object')}` : counted(objects, 'object');
  const counts = `${what}: ${looked}, ${size(bytes)}${total ? ` / ${size(total.bytes)}` : ''}`;
  const left = total && speed > 0 ? `, ${clock(Math.max(0, total.bytes - bytes) / speed)} left` : '';
  return `${counts}, ${size(speed)}/s${left}`;
}

export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1_024 && unit < units.length - 1; unit += 1) value /= 1_024;
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  return [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
