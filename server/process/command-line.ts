import { shownName } from '../../protocol/settings/setting.ts';
import { settings } from '../../protocol/settings/table.ts';
import { Command } from 'commander';
import { ProgramError } from '../../platform/errors/program-error.ts';
import packageJson from '../../package.json' with { type: 'json' };

/** Lists all settings with their default and meaning, for `--help`. */
function settingsHelp(): string {
  const lines = settings.flatMap((row) => {
    const more = [
      'default' in row && row.default !== undefined ? `default ${row.default}` : [],
      row.secret ? `secret: also ${row.name}_FILE` : [],
    ].flat();
    return [`  ${shownName(row)}`, `      ${row.help}${more.length === 0 ? '' : ` (${more.join('; ')})`}`];
  });
  return [
    '',
    'Settings (environment variables, or lines of the file that SVC_CONFIG_ENV_FILE names; MINIO_* names work too):',
    ...lines,
  ].join('\n');
}

export interface ServerArguments {
  readonly folder?: string;
  readonly address?: string;
  readonly consoleAddress?: string;
  readonly certsDir?: string;
}

/** Parses the arguments after the program's name. `--help`, `--version` and invalid arguments end the process. */
export function parseArguments(args: readonly string[]): ServerArguments {
  const command = serverCommand().parse([...args], { from: 'user' });
  const folder = folderOf(command.args);
  return { ...command.opts<Omit<ServerArguments, 'folder'>>(), ...(folder === undefined ? {} : { folder }) };
}

/**
 * Returns the data folder of the words of a command line. MinIO's `server DIR` means `DIR`, so that a container or a service keeps its command.
 *
 * @throws ProgramError for several folders: MinIO spreads objects over drives, and Coffer does not
 */
export function folderOf(words: readonly string[]): string | undefined {
  const folders = words.length > 1 && words[0] === 'server' ? words.slice(1) : words;
  const [folder] = folders;
  if (folders.length > 1 || (folder !== undefined && /\{\d+\.\.\.\d+\}/.test(folder)))
    throw new ProgramError(
      'usage',
      `${folders.map((each) => JSON.stringify(each)).join(', ')}: a server has one data folder and spreads objects over no drives. Name a folder on a file system with redundancy of its own (RAID, ZFS)`,
    );
  return folder;
}

/** Makes the command line of the server. */
export function serverCommand(): Command {
  return new Command('coffer-server')
    .description('An S3-compatible object store.')
    .version(`coffer-server ${packageJson.version}`, '-v, --version')
    .argument('[DIR]', 'data folder (or SVC_VOLUMES)')
    .usage('[options] [DIR]')
    .allowExcessArguments()
    .option('--address <HOST:PORT>', 'where S3, STS and the admin API listen (or SVC_ADDRESS)')
    .option('--console-address <HOST:PORT>', 'where the console listens (or SVC_CONSOLE_ADDRESS)')
    .option('--certs-dir <DIR>', 'serve TLS with DIR/public.crt and DIR/private.key, re-read when they change')
    .addHelpText('after', settingsHelp());
}
