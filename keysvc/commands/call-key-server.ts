import type { Command } from 'commander';
import type { KeyServiceClient } from '../../platform/key-service/client.ts';
import type { ConnectOptions } from './connect.ts';
import type { Terminal } from './terminal.ts';

/** One line for each field that has a value, aligned. What came over the network cannot steer the terminal. */
export function fieldLines(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const told = fields.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...told.map(([name]) => name.length));
  return told.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}\n`).join('');
}

/** Without characters that a terminal takes for commands. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters meant
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

/** Options of the commands that print what a key server says. */
export interface CallOptions extends ConnectOptions {
  readonly json?: boolean;
}

/** Does the work with the key server of the environment. */
export async function callKeyServer(
  terminal: Terminal,
  options: CallOptions,
  work: (client: KeyServiceClient) => Promise<void>,
): Promise<void> {
  // Loaded by the commands that call: the others start faster without.
  const { withKeyServer } = await import('./connect.ts');
  await withKeyServer(terminal, options, work);
}

/** Gives a command the options of those that call a key server. */
export function connected(command: Command): Command {
  return command
    .option('-k, --insecure', "do not check the server's certificate")
    .option('-e, --enclave <name>', 'enclave to use')
    .option('--json', 'print JSON');
}
