import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { settingsHelp } from './settings-help.ts';

export interface ServerArguments {
  readonly folder?: string;
  readonly address?: string;
  readonly consoleAddress?: string;
  readonly certsDir?: string;
}

/** Reads the arguments after the program's name. `--help`, `--version` and mistakes end the process. */
export function parseArguments(args: readonly string[]): ServerArguments {
  const command = new Command('coffer-server')
    .description('An S3-compatible object store.')
    .version(packageJson.version)
    .argument('[DIR]', 'data folder (or SVC_VOLUMES)')
    .option('--address <HOST:PORT>', 'where S3, STS and the admin API listen (or SVC_ADDRESS)')
    .option('--console-address <HOST:PORT>', 'where the console listens (or SVC_CONSOLE_ADDRESS)')
    .option('--certs-dir <DIR>', 'serve TLS with DIR/public.crt and DIR/private.key, re-read when they change')
    .addHelpText('after', settingsHelp())
    .parse([...args], { from: 'user' });
  const folder = command.args[0];
  return { ...command.opts<Omit<ServerArguments, 'folder'>>(), ...(folder === undefined ? {} : { folder }) };
}
