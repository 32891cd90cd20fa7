import { ProgramError } from '../../platform/errors/program-error.ts';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** The input and output of the commands. Tests pass their own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** True if the output goes to a terminal. */
  readonly isTerminal: boolean;
  readonly write: (text: string | Uint8Array) => void;
  /** Writes progress and warnings to standard error. */
  readonly report: (text: string) => void;
  /** Asks for a secret without echo; undefined without a terminal. */
  readonly askSecret: (question: string) => Promise<string | undefined>;
  /** Reads the standard input to its end. */
  readonly readInput: () => Promise<Buffer>;
  /** Aborted when the user ends a command that runs until then. */
  readonly interrupted: AbortSignal;
}

/** Reads a secret from the terminal without echo; undefined without a terminal. Ctrl+C rejects. */
export async function askSecret(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  // The line editor writes the echo.
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nothing, terminal: true });
  // Written after the line editor starts, so that no typed character is echoed.
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

/** More than the largest body of a call. */
const maxInputBytes = 1024 * 1024;

/**
 * Reads the standard input to its end.
 *
 * @throws ProgramError when it is a terminal, or too large
 */
export async function readInput(): Promise<Buffer> {
  if (process.stdin.isTTY) throw new ProgramError('usage', 'give it as an argument, or on the standard input');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxInputBytes)
      throw new ProgramError('usage', `the standard input is larger than ${maxInputBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

let pending: AbortController | undefined;

/** Returns a signal that the first Ctrl+C or SIGTERM aborts. The second one ends the process. */
export function interruption(): AbortSignal {
  if (pending === undefined) {
    const controller = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
    pending = controller;
  }
  return pending.signal;
}
