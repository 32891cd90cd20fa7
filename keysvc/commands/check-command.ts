import type { Command } from 'commander';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { counted } from '../../platform/text/message-text.ts';
import type { Terminal } from './terminal.ts';

export function addCheck(program: Command, terminal: Terminal): void {
  program
    .command('check')
    .description('prove the key store of a configuration, before a key server starts with it')
    .requiredOption('--config <file>', 'configuration file (YAML)')
    .option('--complete', 'a listed key that is missing is an error, too')
    .addHelpText(
      'after',
      `
It opens the key store with the credentials of the configuration, looks for the listed keys, and opens the canaries
of the keys that sealed data (KEYSVC_CANARIES names their file). It makes no key. A key store that lacks a key that
sealed data, or has another one of its name, is an error.

Example:
  keysvc check --config keysvc.yml`,
    )
    .action(async ({ config, complete = false }: { readonly config: string; readonly complete?: boolean }) => {
      // Imported on demand: other commands start in half the time.
      const { checkKeyStore } = await import('./check-key-store.ts');
      const { proven, missing } = await checkKeyStore(config, terminal.environment, (warning) =>
        terminal.report(`Warning: ${warning}\n`),
      );
      terminal.write(`the key store has ${counted(proven.length, 'key')} that sealed data\n`);
      if (missing.length > 0 && complete) {
        throw new ProgramError('failed', `the key store lacks ${missing.join(', ')}, which the configuration lists`);
      }
      if (missing.length > 0) terminal.write(`a start makes: ${missing.join(', ')}\n`);
    });
}
