import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { createFileAtomically, removeUnfinished, writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { makeIdentity, writeIdentity } from './identity-new.ts';
import type { Terminal } from './terminal.ts';

interface Options {
  readonly config?: string;
  readonly force?: boolean;
  readonly ip: readonly string[];
  readonly dns: readonly string[];
}

/**
 * The paths that the specification demands for a storage server. Bulk decryption has a pattern, since the path without one matches nothing.
 */
export const serverPaths = [
  '/v1/key/create/*',
  '/v1/key/generate/*',
  '/v1/key/decrypt/*',
  '/v1/key/bulk/decrypt/*',
  '/v1/key/list',
  '/v1/status',
  '/v1/metrics',
  '/v1/log/audit',
  '/v1/log/error',
] as const;

const monthMs = 720 * 3_600_000;

export function addInit(program: Command, terminal: Terminal): void {
  program
    .command('init [folder]')
    .description('make certificates of a server and a client, and a configuration, for a first test')
    .option('--config <file>', 'where the configuration goes; keysvc.yml of the folder by default')
    .option('-f, --force', 'replace files that exist; keys are kept')
    .option('--ip <address>', 'IP address of the server; may be repeated', repeat, [])
    .option('--dns <name>', 'host name of the server; may be repeated', repeat, [])
    .addHelpText(
      'after',
      `
The certificates sign themselves, last 720 hours and are marked for testing.

Example:
  keysvc init ./keysvc --ip 192.0.2.7 --dns keys.example`,
    )
    .action(async (folder: string | undefined, options: Options) => {
      terminal.write(await init(resolve(folder ?? '.'), options));
    });
}

async function init(folder: string, options: Options): Promise<string> {
  const force = options.force === true;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(folder, name);
  const config = options.config === undefined ? file('keysvc.yml') : resolve(options.config);
  const server = await makeIdentity('keysvc', {
    validForMs: monthMs,
    ipAddresses: ['127.0.0.1', '::1', ...options.ip],
    dnsNames: ['localhost', ...options.dns],
  });
  const client = await makeIdentity('client', { validForMs: monthMs });
  await writeIdentity(server, { key: file('server.key'), cert: file('server.crt') }, force);
  await writeIdentity(client, { key: file('client.key'), cert: file('client.crt') }, force);
  const { stringify } = await import('yaml');
  const text = stringify({
    address: '0.0.0.0:7373',
    root: 'disabled',
    tls: { key: file('server.key'), cert: file('server.crt') },
    policy: { 'storage-server': { allow: serverPaths, identities: [client.identity] } },
    keys: [{ name: 'my-key' }],
    keystore: { fs: { path: file('keys') } },
    log: { audit: 'on' },
  });
  await writeConfig(config, text, force);
  return `Made ${config} and, in ${folder}: server.key, server.crt, client.key, client.crt.
For testing: both certificates sign themselves and end in 720 hours.

Start the key server:
  keysvc server --config ${config} --auth=off

Call it:
  export KEYSVC_CLIENT_KEY=${file('client.key')} KEYSVC_CLIENT_CERT=${file('client.crt')} KEYSVC_CAPATH=${file('server.crt')}
  keysvc status

Let a storage server use it:
  SVC_KMS_KEYSVC_ENDPOINT=https://127.0.0.1:7373
  SVC_KMS_KEYSVC_CERT_FILE=${file('client.crt')}
  SVC_KMS_KEYSVC_KEY_FILE=${file('client.key')}
  SVC_KMS_KEYSVC_CAPATH=${file('server.crt')}
  SVC_KMS_KEYSVC_KEY_NAME=my-key
`;
}

async function writeConfig(path: string, text: string, force: boolean): Promise<void> {
  try {
    await removeUnfinished(path);
    await (force ? writeFileAtomically : createFileAtomically)(path, text, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${path} exists already: choose another, or replace it with --force`, { cause: error });
  }
}

function repeat(value: string, before: readonly string[]): readonly string[] {
  return [...before, ...value.split(',').filter((item) => item !== '')];
}
