import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_MARK } from '../store/lmdb/environment.ts';

/** Milliseconds. A server that runs for longer did not end because of what it found at its start. */
const SETTLED_MS = 10 * 60_000;

/**
 * A file beside the records while a server has not run for long, which a clean stop removes. It counts the servers that ended without one: a
 * server whose record file is damaged may end by SIGSEGV, without a word, and so again whenever it is started.
 */
export class RunMark {
  readonly #path: string;
  /** The count of servers in a row that ended within minutes of their start, without a stop. */
  readonly crashes: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#path = join(folder, RUN_MARK);
    this.crashes = countIn(this.#path);
  }

  /** Notes that this server begins to run. */
  begin(): void {
    this.#write(this.crashes + 1);
    this.#timer = setTimeout(() => this.end(), SETTLED_MS).unref();
  }

  /** Notes that this server ended before it ran, for a reason that it told. */
  withdraw(): void {
    clearTimeout(this.#timer);
    if (this.crashes === 0) this.end();
    else this.#write(this.crashes);
  }

  /** Notes that this server stopped, or has run for long. */
  end(): void {
    clearTimeout(this.#timer);
    attempt(() => rmSync(this.#path, { force: true }));
  }

  #write(crashes: number): void {
    attempt(() => writeFileSync(this.#path, `${JSON.stringify({ crashes })}\n`, { mode: 0o600 }));
  }
}

/** A full disk, or one that cannot be written, is told by what needs it. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    return;
  }
}

function countIn(path: string): number {
  try {
    const { crashes } = JSON.parse(readFileSync(path, 'utf8')) as { readonly crashes?: unknown };
    return typeof crashes === 'number' ? crashes : 0;
  } catch {
    return 0;
  }
}
