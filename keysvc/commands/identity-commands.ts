import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { readFile } from 'node:fs/promises';
import {
  looksLikeApiKey,
  parseApiKey,
  isIdentity,
  identityOfCertificate,
} from '../../protocol/key-service/identity.ts';
import type { Command } from 'commander';
import { callKeyServer, connected, type CallOptions, fieldLines } from './call-key-server.ts';
import { printable } from '../../platform/text/printable.ts';
import { newIdentity, type IdentityNewOptions } from './identity-new.ts';
import type { ListedIdentity } from './answers.ts';
import { type Terminal } from './terminal.ts';

/** `keysvc identity of`: returns the identity of a certificate file or an API key. */
async function identityOf(argument: string): Promise<string> {
  if (looksLikeApiKey(argument)) return parseApiKey(argument).identity;
  const pem = await readFile(argument).catch((error: unknown) => {
    const what = `cannot read ${argument}: ${fileErrorReason(error)}`;
    throw new ProgramError('usage', `${what}; name the file of a certificate, or give an API key`, { cause: error });
  });
  try {
    return identityOfCertificate(pem);
  } catch (error) {
    throw new Error(`${argument} is no certificate: ${(error as Error).message}`, { cause: error });
  }
}

export function addIdentity(program: Command, terminal: Terminal): void {
  const identity = program.command('identity').description('make and name identities');
  addNew(identity, terminal);
  identity
    .command('of <certificate-or-api-key>')
    .description('print the identity of a certificate file or an API key')
    .action(async (argument: string) => {
      const found = await identityOf(argument);
      // Scripts get the bare hash.
      terminal.write(terminal.isTerminal ? `Identity: ${found}\n` : found);
    });
  addInfo(identity, terminal);
  addList(identity, terminal);
  connected(
    identity.command('rm <identity>').description('remove an identity, on servers that keep them themselves'),
  ).action((argument: string, options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      await client.ask('DELETE', `/v1/identity/delete/${checked(argument)}`);
    }),
  );
}

function addNew(identity: Command, terminal: Terminal): void {
  identity
    .command('new [name]')
    .description('make an identity: an API key and, with --key and --cert, a private key and its certificate')
    .option('--key <file>', 'where the private key goes (0600)')
    .option('--cert <file>', 'where the certificate goes')
    .option('--encrypt', 'ask for a password and encrypt the private key with it; then no API key is printed')
    .option('-f, --force', 'replace files that exist')
    .option('--ip <address>', 'IP address of the certificate; may be repeated', collect, [])
    .option('--dns <name>', 'host name of the certificate; may be repeated', collect, [])
    .option('--expiry <duration>', 'how long the certificate is valid, at most 3650d', '720h')
    .addHelpText(
      'after',
      `
The certificate signs itself and is marked for testing.

The password of --encrypt is typed without being shown, or comes from KEYSVC_KEY_PASSWORD, or from the first line of the
file that KEYSVC_KEY_PASSWORD_FILE names.

Examples:
  keysvc identity new                                          an API key alone
  keysvc identity new app --key app.key --cert app.crt
  keysvc identity new app --key app.key --cert app.crt --encrypt
  keysvc identity new server --key s.key --cert s.crt --ip 127.0.0.1 --dns localhost`,
    )
    .action(async (name: string | undefined, options: IdentityNewOptions) => {
      terminal.write(await newIdentity(name, options, terminal));
    });
}

function addInfo(identity: Command, terminal: Terminal): void {
  connected(
    identity
      .command('info [identity]')
      .description('show your identity and its permissions, or the policy of another identity'),
  ).action((argument: string | undefined, options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      const path = argument === undefined ? '/v1/identity/self/describe' : `/v1/identity/describe/${checked(argument)}`;
      const text = await client.ask('GET', path);
      if (options.json === true) return terminal.write(`${text}\n`);
      const { identityAnswer } = await import('./answers.ts');
      const answer = identityAnswer.parse(JSON.parse(text));
      const { policy } = answer;
      const inline = typeof policy === 'object' ? policy : answer;
      terminal.write(
        fieldLines([
          ['Identity', answer.identity ?? argument],
          ['Role', answer.admin === true ? 'superuser: may do everything' : undefined],
          ['Policy', answer.policy_name ?? (typeof policy === 'string' ? policy : undefined)],
          ['Created', answer.created_at],
          ['Created by', answer.created_by],
          ...(inline.allow ?? []).map((pattern) => ['Allow', pattern] as const),
          ...(inline.deny ?? []).map((pattern) => ['Deny', pattern] as const),
        ]),
      );
    }),
  );
}

function addList(identity: Command, terminal: Terminal): void {
  connected(identity.command('ls [pattern]').description('list the identities that a key server knows')).action(
    (pattern: string | undefined, options: CallOptions) =>
      callKeyServer(terminal, options, async (client) => {
        const text = await client.ask('GET', `/v1/identity/list/${encodeURIComponent(pattern ?? '*')}`);
        const { listedIdentity, readListing } = await import('./answers.ts');
        const found = readListing<ListedIdentity>(text, listedIdentity, (name) => ({ identity: name }));
        if (options.json === true) return terminal.write(`${JSON.stringify(found)}\n`);
        for (const { identity: name, admin, policy = '' } of found)
          terminal.write(`${printable(name)}  ${printable(admin === true ? '(superuser)' : policy)}\n`);
      }),
  );
}

/** @throws ProgramError */
function checked(identity: string): string {
  if (isIdentity(identity)) return identity;
  throw new ProgramError(
    'usage',
    `"${identity}" is no identity: 64 lower-case hexadecimal digits, as "keysvc identity of CERTIFICATE" prints them`,
  );
}

/** Collects the values of a repeatable option; one value may be a list with commas. */
function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, ...value.split(',').filter((item) => item !== '')];
}
