import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Io } from './io.ts';

export interface Question {
  readonly text: string;
  /** Typed without echo. */
  readonly secret: boolean;
}

/** Asks each question on the terminal; without one, reads a line for each from standard input. */
export async function ask(io: Io, questions: readonly Question[]): Promise<string[]> {
  return io.stdin.isTTY === true ? askOnTerminal(io, questions) : readLines(io, questions.length);
}

async function askOnTerminal(io: Io, questions: readonly Question[]): Promise<string[]> {
  let muted = false;
  const screen = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!muted) io.stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: io.stdin, output: screen, terminal: true });
  const answers: string[] = [];
  // In raw mode Ctrl-C is a key.
  const interrupted = new AbortController();
  lines.on('SIGINT', () => interrupted.abort());
  try {
    for (const { text, secret } of questions) {
      io.stderr.write(text);
      muted = secret;
      answers.push((await lines.question('', { signal: AbortSignal.any([io.signal, interrupted.signal]) })).trim());
      if (secret) io.stderr.write('\n');
      muted = false;
    }
  } finally {
    lines.close();
  }
  return answers;
}

async function readLines(io: Io, count: number): Promise<string[]> {
  const answers: string[] = [];
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    for await (const line of lines) {
      answers.push(line.trim());
      if (answers.length === count) break;
    }
  } finally {
    lines.close();
  }
  while (answers.length < count) answers.push('');
  return answers;
}
