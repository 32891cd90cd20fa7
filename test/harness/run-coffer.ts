import { Readable, Writable } from 'node:stream';
import { run } from '../../cli/program.ts';
import type { Io } from '../../cli/terminal/io.ts';

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
    readonly signal?: AbortSignal;
  } = {},
): Promise<CofferResult> {
  const [stdout, stderr] = [new Collected(options.terminal === true), new Collected(false)];
  const io: Io = {
    stdin: Readable.from(options.input === undefined ? [] : [options.input]),
    stdout,
    stderr,
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
  };
  const code = await run(args, io);
  return { code, stdout: stdout.bytes, stderr: stderr.bytes.toString('utf8') };
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
