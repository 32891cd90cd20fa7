import { readTextFile } from '../../platform/settings/read-setting-file.ts';
import { type Alias, checkAliasName, parseHostVariable } from './aliases.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';

/**
 * Reads a file with an alias in each line, `MC_HOST_mine=https://ACCESS_KEY:SECRET_KEY@HOST`. `export` and quotes are allowed as in a
 * shell. Empty lines and comments are left out.
 *
 * @throws ProgramError BadConfig, BadAlias; the messages do not have the line, which holds a secret
 */
export async function readEnvFile(path: string): Promise<ReadonlyMap<string, Alias>> {
  const text = await readTextFile(path).catch((error: unknown) => {
    throw new ProgramError('BadConfig', `Unable to read \`${path}\``, { cause: error });
  });
  const aliases = new Map<string, Alias>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name, text] = /^\s*(?:export\s+)?(?:(?:COFFER|MC)_HOST_)?([^=\s]+)=(.*)$/.exec(line) ?? [];
    const value = text === undefined ? undefined : valueOf(text);
    if (name === undefined || value === undefined) {
      throw new ProgramError('BadConfig', `Line ${at + 1} of \`${path}\` is not MC_HOST_ALIAS=URL`);
    }
    checkAliasName(name);
    aliases.set(name, parseHostVariable(`line ${at + 1} of \`${path}\``, value));
  }
  return aliases;
}

/** Returns a value as a shell reads it: without quotes, and without a comment after a blank. Undefined for a quote that does not end. */
function valueOf(text: string): string | undefined {
  const [, double, single, bare] = /^\s*(?:"([^"]*)"|'([^']*)'|([^"'\s][^\s]*)?)\s*(?:\s#.*)?$/.exec(text) ?? [
    undefined,
  ];
  return double ?? single ?? bare;
}
