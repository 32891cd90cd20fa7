import { homedir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { Alias } from './alias.ts';
import { readAliases } from './config-file.ts';
import { aliasesFromEnvironment } from './host-variable.ts';

/** The folder of config.json: the option, else the environment, else `~/.coffer`. */
export function configFolder(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option || env['COFFER_CONFIG_DIR'] || env['MC_CONFIG_DIR'] || join(homedir(), '.coffer');
}

/** Every alias known; those of the environment win over those of the file. */
export async function knownAliases(folder: string, env: NodeJS.ProcessEnv): Promise<Map<string, Alias>> {
  return new Map([...(await readAliases(folder)), ...aliasesFromEnvironment(env)]);
}

export function findAlias(aliases: ReadonlyMap<string, Alias>, name: string): Alias {
  const alias = aliases.get(name);
  if (alias !== undefined) return alias;
  throw new CliError(
    'NoSuchAlias',
    `No such alias \`${name}\`: known are ${[...aliases.keys()].map((known) => `\`${known}\``).join(', ') || 'none'}; ` +
      'add one with `coffer alias set ALIAS URL`',
  );
}
