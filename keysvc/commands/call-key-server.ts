import { printable } from '../../platform/text/printable.ts';
import type { Command } from 'commander';
import type { KeyServiceClient } from '../../platform/key-service/client.ts';
import type { ConnectOptions } from './connect.ts';
import type { Terminal } from './terminal.ts';

/** Aligns one line for each field with a value. Values come from the network, so control characters are replaced. */
export function fieldLines(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}\n`).join('');
}

/** The options of the commands that print an answer. */
export interface CallOptions extends ConnectOptions {
  readonly json?: boolean;
}

/** Connects to the key server of the environment and does the work. */
export async function callKeyServer(
  terminal: Terminal,
  options: CallOptions,
  work: (client: KeyServiceClient) => Promise<void>,
): Promise<void> {
  // Imported on demand, so that other commands start faster.
  const { withKeyServer } = await import('./connect.ts');
  await withKeyServer(terminal, options, work);
}

/** Adds the options of the commands that call a key server. */
export function connected(command: Command): Command {
  return command
    .option('-k, --insecure', "do not check the server's certificate")
    .option('-e, --enclave <name>', 'enclave to use')
    .option('--json', 'print JSON');
}
