import { Option } from 'commander';
import type { Command } from 'commander';
import type { serve } from './serve.ts';

export function addServer(program: Command): void {
  program
    .command('server')
    .description('start a key server')
    .requiredOption('--config <file>', 'configuration file (YAML)')
    .option('--addr <host:port>', 'address to listen on, instead of the configured one')
    .option('--key <file>', 'TLS private key, instead of the configured one')
    .option('--cert <file>', 'TLS certificate, instead of the configured one')
    .addOption(
      new Option(
        '--auth <mode>',
        'off: accept client certificates that no trusted authority issued; policies still go by their identity',
      ).choices(['on', 'off']),
    )
    .option('--mlock', 'accepted for compatibility: this program cannot lock its memory, and warns')
    .option(
      '--shutdown-delay <duration>',
      'time between the end of readiness and the stop, in which it still accepts calls',
    )
    .addHelpText(
      'after',
      `
Examples:
  keysvc server --config keysvc.yml
  keysvc server --config=keysvc.yml --auth=off      clients whose certificates sign themselves

The configuration and the certificates are read again when they change, and on SIGHUP.`,
    )
    .action(async (options: Parameters<typeof serve>[0]) => {
      // Imported on demand: other commands start in half the time.
      const { serve } = await import('./serve.ts');
      await serve(options);
    });
}
