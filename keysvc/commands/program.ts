import { Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { KeyServiceClient } from '../../platform/key-service-client.ts';
import type { ConnectOptions } from './connect.ts';
import { newIdentity } from './identity-new.ts';
import type { IdentityNewOptions } from './identity-new.ts';
import { identityOf } from './identity-of.ts';
import type { serve } from './serve.ts';

/** What the commands write to and read from; tests hand in their own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
}

/** The command line of the key service. */
export function makeProgram(terminal: Terminal): Command {
  const program = new Command('keysvc')
    .description('The key service: keeps named keys and makes data keys under them')
    .version(packageJson.version)
    .exitOverride();
  addServer(program);
  addIdentity(program, terminal);
  addKey(program, terminal);
  return program;
}

function addServer(program: Command): void {
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
    .option(
      '--shutdown-delay <duration>',
      'how long it goes on taking calls after it was told to stop and said that it is not ready',
    )
    .action(async (options: Parameters<typeof serve>[0]) => {
      // Loaded by the command that needs it: what only names an identity starts in half the time.
      const { serve } = await import('./serve.ts');
      await serve(options);
    });
}

function addIdentity(program: Command, terminal: Terminal): void {
  const identity = program.command('identity').description('make and name identities');
  identity
    .command('new [name]')
    .description('make an identity: an API key and, with --key and --cert, a private key and its certificate')
    .option('--key <file>', 'where the private key goes (0600)')
    .option('--cert <file>', 'where the certificate goes')
    .option('-f, --force', 'replace files that exist')
    .option('--ip <address>', 'IP address of the certificate; may be repeated', collect, [])
    .option('--dns <name>', 'host name of the certificate; may be repeated', collect, [])
    .option('--expiry <duration>', 'how long the certificate is valid', '720h')
    .action(async (name: string | undefined, options: IdentityNewOptions) => {
      terminal.write(await newIdentity(name, options));
    });
  identity
    .command('of <certificate-or-api-key>')
    .description('print the identity of a certificate file or an API key')
    .action(async (argument: string) => {
      const found = await identityOf(argument);
      // A script takes the bare hash.
      terminal.write(terminal.isTerminal ? `Identity: ${found}\n` : found);
    });
}

function addKey(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('create, list, describe and delete keys of a key server');
  type Options = ConnectOptions & { readonly json?: boolean };
  const call = async (options: Options, work: (client: KeyServiceClient) => Promise<void>) => {
    const { withKeyServer } = await import('./connect.ts');
    await withKeyServer(terminal.environment, options, work);
  };

  connected(key.command('create <name>').description('create a key')).action((name: string, options: Options) =>
    call(options, async (client) => {
      await client.createKey(name);
      if (terminal.isTerminal) terminal.write(`Created key ${name}\n`);
    }),
  );
  connected(key.command('ls [prefix]').description('list the keys whose names begin with the prefix')).action(
    (prefix: string | undefined, options: Options) =>
      call(options, async (client) => {
        const names = await client.listKeys(prefix?.replace(/\*$/, ''));
        terminal.write(
          options.json === true ? `${JSON.stringify(names)}\n` : names.map((name) => `${name}\n`).join(''),
        );
      }),
  );
  connected(key.command('info <name>').description('describe a key')).action((name: string, options: Options) =>
    call(options, async (client) => {
      const described = await client.describeKey(name);
      const lines = Object.entries(described).map(([field, value]) => `${field.padEnd(11)} ${value}\n`);
      terminal.write(options.json === true ? `${JSON.stringify(described)}\n` : lines.join(''));
    }),
  );
  connected(
    key.command('rm <names...>').description('delete keys: what was encrypted under them can never be read again'),
  ).action((names: string[], options: Options) =>
    call(options, async (client) => {
      for (const name of names) await client.deleteKey(name);
    }),
  );
}

function connected(command: Command): Command {
  return command
    .option('-k, --insecure', "do not check the server's certificate")
    .option('-e, --enclave <name>', 'enclave to use')
    .option('--json', 'print JSON');
}

/** Repeated or separated by commas. */
function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, ...value.split(',').filter((item) => item !== '')];
}
