import { ProgramError } from '../../platform/errors/program-error.ts';
import type { Command } from 'commander';
import { callKeyServer, connected, type CallOptions, fieldLines } from './call-key-server.ts';
import { type Terminal } from './terminal.ts';

type Options = CallOptions & { readonly context?: string; readonly raw?: boolean };

/** Adds the commands that use a key, for tests and scripts. */
export function addCipherCommands(key: Command, terminal: Terminal): void {
  const show = (result: Readonly<Record<string, string>>, options: CallOptions) =>
    terminal.write(
      options.json === true || !terminal.isTerminal
        ? `${JSON.stringify(result)}\n`
        : fieldLines(Object.entries(result)),
    );

  withContext(
    connected(
      key.command('generate <name>').alias('dek').description('make a data key: plain, and sealed under the key'),
    ),
  ).action((name: string, options: Options) =>
    callKeyServer(terminal, options, async (client) => {
      const { plaintext, ciphertext } = await client.generateKey(name, contextOf(options));
      show({ plaintext: plaintext.toString('base64'), ciphertext: ciphertext.toString('base64') }, options);
    }),
  );

  withContext(
    connected(key.command('encrypt <name> [text]').description('encrypt a text, or the standard input, under a key')),
  ).action(async (name: string, text: string | undefined, options: Options) => {
    const plaintext = await given(text, terminal);
    await callKeyServer(terminal, options, async (client) => {
      const { ciphertext } = await client.encryptKey(name, plaintext, contextOf(options));
      show({ ciphertext: ciphertext.toString('base64') }, options);
    });
  });

  withContext(
    connected(
      key
        .command('decrypt <name> [ciphertext] [context]')
        .description('decrypt what encrypt or generate made, given in base64 or on the standard input'),
    ),
  )
    .option('--raw', 'write the bytes as they are')
    .action(async (name: string, text: string | undefined, context: string | undefined, options: Options) => {
      const ciphertext = base64(await given(text, terminal));
      await callKeyServer(terminal, options, async (client) => {
        const bound = context === undefined ? contextOf(options) : Buffer.from(context);
        const plaintext = await client.decryptKey(name, ciphertext, bound);
        if (options.raw === true) terminal.write(plaintext);
        else show({ plaintext: plaintext.toString('base64') }, options);
      });
    });

  connected(
    key
      .command('hmac <name> [message]')
      .description('compute the HMAC of a text, or of the standard input, with a key'),
  ).action(async (name: string, text: string | undefined, options: CallOptions) => {
    const message = await given(text, terminal);
    await callKeyServer(terminal, options, async (client) => {
      show({ hmac: (await client.hmac(name, message)).toString('base64') }, options);
    });
  });
}

function withContext(command: Command): Command {
  return command.option('--context <text>', 'the context, which decryption needs again');
}

function contextOf({ context = '' }: Options): Buffer {
  return Buffer.from(context);
}

async function given(text: string | undefined, terminal: Terminal): Promise<Buffer> {
  return text === undefined || text === '-' ? terminal.readInput() : Buffer.from(text);
}

/**
 * Reads base64 text, or the JSON that `encrypt` and `generate` print.
 *
 * @throws ProgramError
 */
function base64(input: Buffer): Buffer {
  const text = input.toString('utf8').trim();
  const bare = /^\{.*"ciphertext" *: *"([^"]*)"/s.exec(text)?.[1] ?? text;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(bare)) throw new ProgramError('usage', 'the ciphertext is no base64');
  return Buffer.from(bare, 'base64');
}
