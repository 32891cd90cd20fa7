import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { ask } from './prompt.ts';

export interface SecretQuestion {
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
export async function secrets(context: Context, questions: readonly SecretQuestion[]): Promise<string[]> {
  const isAsked = ({ given }: SecretQuestion) => given === undefined || given === '-';
  const visible = questions.filter((question) => !isAsked(question));
  if (visible.length > 0) warnOfArguments(context, visible.map(({ what }) => what).join(' and the '));
  const asked = questions.filter(isAsked);
  const texts = asked.map(({ what }) => ({ text: `Enter the ${what}: `, secret: true }));
  const answers = texts.length === 0 ? [] : await ask(context.io, texts);
  return questions.map((question) => {
    const secret = isAsked(question) ? (answers.shift() ?? '') : (question.given ?? '');
    if (secret !== '' || question.optional) return secret;
    throw new CliError(
      'BadArgument',
      `The ${question.what} is missing: type it when asked, or send it to standard input as a line`,
    );
  });
}

export async function secret(context: Context, what: string, given: string | undefined): Promise<string> {
  const [only = ''] = await secrets(context, [{ what, given }]);
  return only;
}

export function warnOfArguments(context: Context, what: string): void {
  context.output.warn(
    `The ${what} stands on the command line, where other people of this machine and the shell's history see it; ` +
      'write `-` or leave it out, and it is asked for',
  );
}
