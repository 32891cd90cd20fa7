import { ProgramError } from '../../platform/errors/program-error.ts';
import { type Terminal } from './terminal.ts';
import type { Command } from 'commander';
import { callKeyServer, connected, type CallOptions, fieldLines } from './call-key-server.ts';
import { addCipherCommands } from './cipher-commands.ts';

/**
 * Reads the bytes of a key in base64 or raw form. Errors never quote them.
 *
 * @throws ProgramError
 */
function readKeyBytes(input: Buffer): Buffer {
  const text = input.toString('latin1').trim();
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (decoded?.length === keyBytes) return decoded;
  if (input.length === keyBytes) return input;
  throw new ProgramError(
    'usage',
    `a key has ${keyBytes} bytes, written in base64; this one ${decoded === undefined ? 'is no base64' : `has ${decoded.length}`}`,
  );
}

const keyBytes = 32;

const examples = `
Examples:
  keysvc key create -k my-key
  openssl rand -base64 32 | keysvc key import my-key
  keysvc key generate my-key --context '{"photos":"photos/cat.jpg"}'
  keysvc key rm my-key            nothing that was encrypted under it can be read again`;

export function addKey(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('keys of a key server').addHelpText('after', examples);
  connected(key.command('create <name>').description('create a key')).action((name: string, options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      await client.createKey(name);
      if (terminal.isTerminal) terminal.write(`Created key ${name}\n`);
    }),
  );
  addImport(key, terminal);
  connected(
    key
      .command('rotate <name>')
      .description('add a version to a key, which encrypts from now on; older ones still decrypt'),
  ).action((name: string, options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      const version = await client.rotateKey(name);
      if (options.json === true) terminal.write(`${JSON.stringify({ name, version })}\n`);
      else terminal.write(terminal.isTerminal ? `Key ${name} now encrypts with version ${version}\n` : `${version}\n`);
    }),
  );
  addList(key, terminal);
  addInfo(key, terminal);
  connected(
    key.command('rm <names...>').description('delete keys: what was encrypted under them can never be read again'),
  ).action((names: string[], options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      for (const name of names) await client.deleteKey(name);
    }),
  );
  addCipherCommands(key, terminal);
}

function addImport(key: Command, terminal: Terminal): void {
  type Options = CallOptions & { readonly cipher: string };
  connected(
    key
      .command('import <name> [key]')
      .description(
        'bring a key: 32 bytes in base64, on the standard input rather than as an argument, which other users can see',
      ),
  )
    .option('--cipher <cipher>', 'AES256 or ChaCha20', 'AES256')
    .action(async (name: string, given: string | undefined, options: Options) => {
      const algorithm = algorithmOf(options.cipher);
      const bytes = readKeyBytes(
        given === undefined || given === '-' ? await terminal.readInput() : Buffer.from(given),
      );
      await callKeyServer(terminal, options, async (client) => {
        await client.importKey(name, bytes, algorithm);
        if (terminal.isTerminal) terminal.write(`Imported key ${name}\n`);
      });
    });
}

function algorithmOf(cipher: string): 'AES256-GCM_SHA256' | 'XCHACHA20-POLY1305' {
  if (/^aes256/i.test(cipher)) return 'AES256-GCM_SHA256';
  if (/^x?chacha20/i.test(cipher)) return 'XCHACHA20-POLY1305';
  throw new ProgramError('usage', `--cipher "${cipher}" is unknown: write AES256 or ChaCha20`);
}

function addList(key: Command, terminal: Terminal): void {
  connected(key.command('ls [prefix]').description('list the keys whose names begin with the prefix')).action(
    (prefix: string | undefined, options: CallOptions) =>
      callKeyServer(terminal, options, async (client) => {
        const names = await client.listKeys(prefix?.replace(/\*$/, ''));
        terminal.write(
          options.json === true ? `${JSON.stringify(names)}\n` : names.map((name) => `${name}\n`).join(''),
        );
      }),
  );
}

function addInfo(key: Command, terminal: Terminal): void {
  connected(key.command('info <name>').description('describe a key')).action((name: string, options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      const described = await client.describeKey(name);
      if (options.json === true) return terminal.write(`${JSON.stringify(described)}\n`);
      terminal.write(
        fieldLines([
          ['Name', described.name],
          ['ID', described.id],
          ['Algorithm', described.algorithm],
          ['Created', described.created_at],
          ['Created by', described.created_by],
          ['Versions', described.versions?.length],
        ]),
      );
    }),
  );
}
