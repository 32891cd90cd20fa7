import type { Command } from 'commander';
import type { KeyServiceClient } from '../../platform/key-service-client.ts';
import type { ConnectOptions } from './connect.ts';
import type { Terminal } from './terminal.ts';

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
