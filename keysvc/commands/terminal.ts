import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What the commands read from and write to; tests hand in their own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads what is written; else a program does. */
  readonly isTerminal: boolean;
  readonly write: (text: string | Uint8Array) => void;
  /** For what is no result: progress, warnings. */
  readonly tell: (text: string) => void;
  /** What a person types without its being shown; undefined where no person is there. */
  readonly askSecret: (question: string) => Promise<string | undefined>;
  /** All of the standard input. */
  readonly readInput: () => Promise<Buffer>;
  /** Comes when the person ends a command that goes on by itself. */
  readonly interrupted: AbortSignal;
}

/** What a person types at the terminal, which does not show it; undefined where there is none. Ctrl+C rejects. */
export async function askSecret(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  // Echo is what the line editor writes.
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nothing, terminal: true });
  // Not before: what somebody types at a question, however fast, is not shown from here on.
  process.stderr.write(question);
  const interrupted = new AbortController();
  lines.on('SIGINT', () => interrupted.abort(new Error('interrupted')));
  try {
    return await lines.question('', { signal: interrupted.signal });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** More than any call takes. */
const maxInputBytes = 1024 * 1024;

/** The standard input to its end. Errors with a `UsageError` where a person would have to type it, or it is larger than any call takes. */
export async function readInput(): Promise<Buffer> {
  if (process.stdin.isTTY) throw new UsageError('give it as an argument, or on the standard input');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxInputBytes) throw new UsageError(`the standard input is larger than ${maxInputBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

let pending: AbortController | undefined;

/** Comes with the first Ctrl+C or SIGTERM from now on; the second ends the process as ever. */
export function interruption(): AbortSignal {
  if (pending === undefined) {
    const controller = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
    pending = controller;
  }
  return pending.signal;
}
