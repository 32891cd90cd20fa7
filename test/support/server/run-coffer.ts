import { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { run } from '../../../cli/program.ts';
import type { Io } from '../../../cli/terminal/io.ts';

export interface CofferResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs a command line of the client in this process, which spares each of them the start of one. */
export async function runCoffer(
  args: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly input?: string;
    readonly terminal?: boolean;
    /** What a user types: standard input is a terminal then. */
    readonly typed?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<CofferResult> {
  const [stdout, stderr] = [new Collected(options.terminal === true), new Collected(false)];
  const { typed, input = typed } = options;
  const stdin: Io['stdin'] = Readable.from(input === undefined ? [] : [input], { objectMode: false });
  const io: Io = {
    stdin: typed === undefined ? stdin : Object.assign(stdin, { isTTY: true }),
    stdout,
    stderr,
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
  };
  const code = await run(args, io);
  return { code, stdout: stdout.bytes, stderr: stderr.bytes.toString('utf8') };
}

/** Runs one that goes on until it is interrupted, which happens when `until` says so of what it has printed. */
export async function followCoffer(
  args: readonly string[],
  until: (printed: string) => boolean | Promise<boolean>,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [stdout, stderr] = [new Collected(false), new Collected(false)];
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const ended = run(args, { stdin: Readable.from([]), stdout, stderr, env: {}, signal });
  const over = ended.then(() => true);
  const printed = () => stdout.bytes.toString('utf8');
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (await until(printed())) break;
    if (await Promise.race([over, setTimeout(50, false)])) break;
  }
  interrupt.abort();
  return { code: await ended, stdout: printed(), stderr: stderr.bytes.toString('utf8') };
}

class Collected extends Writable {
  readonly isTTY: boolean;
  readonly columns = 100;
  readonly #pieces: Buffer[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#pieces.push(Buffer.from(piece));
    done();
  }
}
