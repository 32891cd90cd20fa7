import type { Io } from './io.ts';
import { formatSize } from './format.ts';
import { printable } from '../../platform/text/printable.ts';
import type { Output } from './output.ts';

interface ProgressState {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  /** Bytes per second. */
  readonly speed: number;
}

const barWidth = 24;

/** Formats name, bar, percentage, speed and remaining time in one line. */
export function renderProgress(state: ProgressState, columns: number): string {
  const share = state.total === 0 ? 0 : Math.min(1, state.done / state.total);
  const filled = Math.floor(share * barWidth);
  const bar = `┃${'▓'.repeat(filled)}${'░'.repeat(barWidth - filled)}┃`;
  const seconds = state.speed > 0 ? Math.max(0, state.total - state.done) / state.speed : undefined;
  const left = seconds === undefined || seconds > 359_999 ? '--:--' : clock(seconds);
  const figures = ` ${formatSize(state.done)} / ${formatSize(state.total)} ${bar} ${(share * 100).toFixed(1)}% ${formatSize(Math.round(state.speed))}/s ${left}`;
  const room = columns - 1 - figures.length;
  const name = printable(state.name);
  const shown = room < 4 ? '' : name.length <= room ? name : `…${name.slice(name.length - room + 1)}`;
  return `${shown}${figures}`.slice(0, Math.max(1, columns - 1));
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const parts = hours > 0 ? [hours, minutes, rest] : [minutes, rest];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Counts bytes. On a terminal it draws a bar eight times a second. */
export class Progress {
  readonly #started = performance.now();
  readonly #io: Io;
  readonly #output: Output;
  readonly #timer: NodeJS.Timeout | undefined;
  #name = '';
  #done = 0;
  #total = 0;
  #shown = false;

  constructor(io: Io, output: Output, visible: boolean) {
    this.#io = io;
    this.#output = output;
    if (!visible) return;
    output.beforeEach(() => this.#wipe());
    this.#timer = setInterval(() => this.#draw(), 125).unref();
  }

  get visible(): boolean {
    return this.#timer !== undefined;
  }

  get done(): number {
    return this.#done;
  }

  get total(): number {
    return this.#total;
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1_000;
  }

  expect(name: string, bytes: number): void {
    this.#name = name;
    this.#total += bytes;
  }

  /** Adds bytes; a negative number when a retry sends them again. */
  add(bytes: number): void {
    this.#done += bytes;
  }

  /** Draws the last state and leaves it on the terminal. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#draw();
    this.#io.stdout.write('\n');
    this.#output.beforeEach(undefined);
  }

  #draw(): void {
    const state = { name: this.#name, done: this.#done, total: this.#total, speed: this.#done / this.seconds };
    this.#io.stdout.write(`\r\x1b[K${renderProgress(state, this.#io.stdout.columns ?? 80)}`);
    this.#shown = true;
  }

  #wipe(): void {
    if (this.#shown) this.#io.stdout.write('\r\x1b[K');
    this.#shown = false;
  }
}
