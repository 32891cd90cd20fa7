import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Io } from './io.ts';
import { CliError } from '../config/cli-error.ts';
import type { Output } from './output.ts';

interface Question {
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

/** Where questions are asked, and warnings shown. */
interface Asking {
  readonly io: Io;
  readonly output: Output;
}

interface SecretQuestion {
  /** `secret key of ann`. */
  readonly what: string;
  readonly given: string | undefined;
  /** It may be left empty, for instance so that the server makes one. */
  readonly optional?: true;
}

/**
 * Secrets in their order: those that are `-` or missing are asked for on the terminal without echo, or read from standard input, a
 * line for each. One that stands on the command line is taken, with a warning.
 */
export async function secrets({ io, output }: Asking, questions: readonly SecretQuestion[]): Promise<string[]> {
  const isAsked = ({ given }: SecretQuestion) => given === undefined || given === '-';
  const visible = questions.filter((question) => !isAsked(question));
  if (visible.length > 0) warnOfArguments({ output }, visible.map(({ what }) => what).join(' and the '));
  const asked = questions.filter(isAsked);
  const texts = asked.map(({ what }) => ({ text: `Enter the ${what}: `, secret: true }));
  const answers = texts.length === 0 ? [] : await ask(io, texts);
  return questions.map((question) => {
    const secret = isAsked(question) ? (answers.shift() ?? '') : (question.given ?? '');
    if (secret !== '' || question.optional) return secret;
    throw new CliError(
      'BadArgument',
      `The ${question.what} is missing: type it when asked, or send it to standard input as a line`,
    );
  });
}

export async function secret({ io, output }: Asking, what: string, given: string | undefined): Promise<string> {
  const [only = ''] = await secrets({ io, output }, [{ what, given }]);
  return only;
}

export function warnOfArguments({ output }: Pick<Asking, 'output'>, what: string): void {
  output.warn(
    `The ${what} stands on the command line, where other people of this machine and the shell's history see it; ` +
      'write `-` or leave it out, and it is asked for',
  );
}
