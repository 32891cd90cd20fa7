import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { readSecretLine } from '../../platform/settings/read-setting-file.ts';
import { readFile } from 'node:fs/promises';
import type { ClientCredentials } from '../../platform/key-service/reloading-agent.ts';
import { type Terminal } from './terminal.ts';

type Prompting = Pick<Terminal, 'environment' | 'askSecret'>;

/**
 * Returns the password for a new private key: that of the environment, or one that the user types twice.
 *
 * @throws ProgramError
 */
export async function newPassword(terminal: Prompting): Promise<string> {
  const given = await passwordOf(terminal.environment);
  if (given !== undefined) return given;
  const password = await promptPassword(terminal, 'Password of the new private key: ');
  if (password === '') throw new ProgramError('usage', 'the password is empty: without one leave --encrypt out');
  if (password !== (await promptPassword(terminal, 'The same again: ')))
    throw new ProgramError('usage', 'the two passwords differ');
  return password;
}

/** Adds the password of an encrypted private key: that of the environment, or one that the user types. */
export async function withPassword(credentials: ClientCredentials, terminal: Prompting): Promise<ClientCredentials> {
  if (credentials.kind !== 'files') return credentials;
  const given = await passwordOf(terminal.environment);
  if (given !== undefined) return { ...credentials, password: given };
  if (!(await isEncrypted(credentials.keyFile))) return credentials;
  return {
    ...credentials,
    password: await promptPassword(terminal, `Password of the private key ${credentials.keyFile}: `),
  };
}

/** Reads `KEYSVC_KEY_PASSWORD`, or the first line of the file of `KEYSVC_KEY_PASSWORD_FILE`. */
async function passwordOf(environment: Terminal['environment']): Promise<string | undefined> {
  const { KEYSVC_KEY_PASSWORD: password = '', KEYSVC_KEY_PASSWORD_FILE: file = '' } = environment;
  if (file === '') return password === '' ? undefined : password;
  if (password !== '') {
    throw new ProgramError('usage', 'KEYSVC_KEY_PASSWORD and KEYSVC_KEY_PASSWORD_FILE are both set: unset one of them');
  }
  const line = await readSecretLine(file).catch((error: unknown) => {
    throw new ProgramError(
      'usage',
      `KEYSVC_KEY_PASSWORD_FILE is ${file}, which cannot be read: ${fileErrorReason(error)}`,
      {
        cause: error,
      },
    );
  });
  if (line === '')
    throw new ProgramError('usage', `the first line of ${file} is empty: KEYSVC_KEY_PASSWORD_FILE names it`);
  return line;
}

/** Encrypted PKCS#8 has its own label; keys of other tools have a header. The caller reports a file that cannot be read. */
async function isEncrypted(keyFile: string): Promise<boolean> {
  const pem = await readFile(keyFile, 'latin1').catch(() => '');
  return /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
}

async function promptPassword({ askSecret }: Prompting, question: string): Promise<string> {
  const answer = await askSecret(question);
  if (answer !== undefined) return answer;
  throw new ProgramError(
    'usage',
    'a password is needed, and there is no terminal to type it at: set KEYSVC_KEY_PASSWORD, or KEYSVC_KEY_PASSWORD_FILE to a file that holds it',
  );
}
