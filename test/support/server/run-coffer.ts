import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { run } from '../../../cli/program.ts';
import type { Io } from '../../../cli/terminal/io.ts';

export interface CofferResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** The Node and the script of a client that the tier `installed` tests instead of the sources. */
const installedClient = process.env['COFFER_TEST_CLIENT']?.split(delimiter);

/** Starts a process of the installed client. */
function startInstalled(
  [node = '', script = '']: readonly string[],
  args: readonly string[],
  { env = {}, input = '' }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string },
) {
  const [stdout, stderr] = [new Collected(false), new Collected(false)];
  const child = spawn(node, [script, ...args], { env: { PATH: process.env['PATH'], ...env } });
  child.stdout.pipe(stdout);
  child.stderr.pipe(stderr);
  // A command may end without reading its input.
  child.stdin.on('error', () => undefined).end(input);
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number,
    stdout: stdout.bytes,
    stderr: stderr.bytes.toString('utf8'),
  }));
  return { stdout, ended, interrupt: () => child.kill('SIGINT') };
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
  const apart = options.terminal !== true && options.typed === undefined && options.signal === undefined;
  if (apart && installedClient !== undefined) return startInstalled(installedClient, args, options).ended;
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
  const { stdout, ended, interrupt } =
    installedClient === undefined ? startHere(args) : startInstalled(installedClient, args, {});
  const over = ended.then(() => true);
  const printed = () => stdout.bytes.toString('utf8');
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (await until(printed())) break;
    if (await Promise.race([over, setTimeout(50, false)])) break;
  }
  interrupt();
  const { code, stderr } = await ended;
  return { code, stdout: printed(), stderr };
}

function startHere(args: readonly string[]) {
  const [stdout, stderr] = [new Collected(false), new Collected(false)];
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const ended = run(args, { stdin: Readable.from([]), stdout, stderr, env: {}, signal }).then((code) => ({
    code,
    stderr: stderr.bytes.toString('utf8'),
  }));
  return { stdout, ended, interrupt: () => interrupt.abort() };
}

class Collected extends Writable {
  readonly isTTY: boolean;
  readonly columns = 100;
  readonly #chunks: Buffer[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(Buffer.from(chunk));
    done();
  }
}
