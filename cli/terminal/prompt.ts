import { on } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Io } from './io.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import type { Output } from './output.ts';

interface Question {
  readonly text: string;
  /** True if the terminal shows no echo. */
  readonly secret: boolean;
}

/** Asks the questions on a terminal. Otherwise it reads one line of standard input for each. */
export async function ask(io: Io, questions: readonly Question[]): Promise<string[]> {
  return io.stdin.isTTY === true ? askOnTerminal(io, questions) : readLines(io, questions.length);
}

/** Reports whether the user can answer a question that no script foresees. */
export function canAsk({ stdin }: Pick<Io, 'stdin'>): boolean {
  return stdin.isTTY === true;
}

/** Asks a question whose answer is yes or no. Anything but yes is no. */
export async function confirm(io: Io, text: string): Promise<boolean> {
  const [answer = ''] = await askOnTerminal(io, [{ text, secret: false }]);
  return /^y(?:es)?$/i.test(answer);
}

async function askOnTerminal(io: Io, questions: readonly Question[]): Promise<string[]> {
  // Counted when a line ends, since the user may paste the secret together with the line before it.
  let ended = 0;
  const muted = (): boolean => questions[ended]?.secret !== false;
  const screen = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!muted()) io.stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: io.stdin, output: screen, terminal: true });
  // In raw mode Ctrl-C is a key.
  const interrupted = new AbortController();
  lines.on('SIGINT', () => interrupted.abort());
  lines.on('line', () => (ended += 1));
  // Ctrl-D ends the input: the answers to all further questions are empty.
  const typed = on(lines, 'line', { close: ['close'], signal: AbortSignal.any([io.signal, interrupted.signal]) });
  const answers: string[] = [];
  try {
    for (const { text, secret } of questions) {
      io.stderr.write(text);
      const { value, done } = (await typed.next()) as IteratorResult<readonly [string]>;
      answers.push(done === true ? '' : value[0].trim());
      if (secret) io.stderr.write('\n');
    }
  } finally {
    lines.close();
  }
  return answers;
}

async function readLines(io: Io, count: number): Promise<string[]> {
  const answers: string[] = [];
  const lines = createInterface({ input: io.stdin, terminal: false, signal: io.signal });
  try {
    for await (const line of lines) {
      answers.push(line.trim());
      if (answers.length === count) break;
    }
  } finally {
    lines.close();
  }
  io.signal.throwIfAborted();
  while (answers.length < count) answers.push('');
  return answers;
}

/** The streams for questions and warnings. */
interface Asking {
  readonly io: Io;
  readonly output: Output;
}

interface SecretQuestion {
  /** For example `secret key of ann`. */
  readonly what: string;
  readonly given: string | undefined;
  /** An empty answer is allowed, for example to let the server generate one. */
  readonly optional?: true;
}

/**
 * Returns secrets in the order of the questions. It asks for those that are `-` or missing, without echo, or reads a line of standard input
 * for each. It accepts a secret on the command line with a warning.
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
    throw new ProgramError(
      'BadArgument',
      `The ${question.what} is missing: type it when asked, or send it to standard input as a line`,
    );
  });
}

export async function secret({ io, output }: Asking, what: string, given: string | undefined): Promise<string> {
  const [only = ''] = await secrets({ io, output }, [{ what, given }]);
  return only;
}

/** Warns of a secret on the command line. `advice` completes the sentence. */
export function warnOfArguments(
  { output }: Pick<Asking, 'output'>,
  what: string,
  advice = 'write `-` or leave it out, and it is asked for',
): void {
  output.warn(
    'secret',
    `The ${what} is on the command line, where other people of this machine and the shell's history see it; ${advice}`,
  );
}
