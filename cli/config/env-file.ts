import { readFile } from 'node:fs/promises';
import { type Alias, checkAliasName, parseHostVariable } from './aliases.ts';
import { ProgramError } from '../../platform/program-error.ts';

/**
 * Reads a file with an alias in each line, `MC_HOST_mine=https://ACCESS_KEY:SECRET_KEY@HOST`. Empty lines and those that begin with `#` are
 * left out.
 *
 * @throws ProgramError BadConfig, BadAlias; the messages do not have the line, which holds a secret
 */
export async function readEnvFile(path: string): Promise<ReadonlyMap<string, Alias>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ProgramError('BadConfig', `Unable to read \`${path}\``, { cause: error });
  });
  const aliases = new Map<string, Alias>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, value] = /^(?:(?:COFFER|MC)_HOST_)?([^=]+)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new ProgramError('BadConfig', `Line ${at + 1} of \`${path}\` is not MC_HOST_ALIAS=URL`);
    }
    checkAliasName(name);
    aliases.set(name, parseHostVariable(`line ${at + 1} of \`${path}\``, value));
  }
  return aliases;
}
