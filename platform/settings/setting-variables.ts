import { ProgramError } from '../errors/program-error.ts';
import { isDamaged, secretText, withoutLineEnd } from './setting-text.ts';

type Variables = Readonly<Record<string, string | undefined>>;

interface ReadOptions {
  /** The beginnings of the names of the program's own variables. Others are left alone. */
  readonly prefixes: readonly string[];
  /** The names of those that hold a secret, to which a blank may belong. */
  readonly secrets?: readonly string[];
}

/**
 * Reads the variables of a program as the lines of a file of settings are read: without the CR of a file of Windows, without a line end, and
 * without blanks at the ends. A secret that ends with a blank is refused, since nobody sees which one is meant.
 *
 * @throws ProgramError with every variable that cannot be meant, by its name
 */
export function settingVariables(env: Variables, { prefixes, secrets = [] }: ReadOptions): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = { ...env };
  const problems: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !prefixes.some((prefix) => name.startsWith(prefix))) continue;
    try {
      if (isDamaged(value)) throw new Error('has bytes that are not UTF-8');
      read[name] = secrets.includes(name) ? secretText(value) : withoutLineEnd(value).trim();
    } catch (error) {
      problems.push(`the environment variable ${name} ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new ProgramError('settings', problems.join('\n'));
  return read;
}

/** Does the same for the variables of this process, for libraries that read them themselves. */
export function cleanProcessVariables(options: ReadOptions): void {
  Object.assign(process.env, settingVariables(process.env, options));
}
