import { ProgramError } from '../../../platform/errors/program-error.ts';
import { checkUrl, type Alias, findAlias } from '../../config/aliases.ts';
import type { Context } from '../context.ts';
import { assumeRole } from '../../s3/temporary-credentials.ts';
import { ask } from '../../terminal/prompt.ts';
import { AdminClient } from '../admin-client.ts';
import { type KeyOptions, makeAccessKey } from './access-keys.ts';

/** Seconds. The shortest duration that servers allow: the credentials serve only to make the key. */
const loginDuration = '900';

/** Makes an access key for an LDAP user, who types the name and password. The command needs no alias. */
export async function createKeyWithLogin(
  context: Context,
  [server = '']: readonly string[],
  options: KeyOptions,
): Promise<void> {
  const url = server.includes('://') ? checkUrl(server) : findAlias(await context.aliases(), server).url;
  // All questions together, since a pipe sends a line for each.
  const questions = [
    { text: 'Enter LDAP Username: ', secret: false },
    { text: 'Enter LDAP Password: ', secret: true },
    ...(options.secretKey === '-' ? [{ text: 'Enter the secret key of the access key: ', secret: true }] : []),
  ];
  const [name = '', password = '', secretKey] = await ask(context.io, questions);
  if (name === '' || password === '') {
    throw new ProgramError(
      'BadArgument',
      'A login needs a name and a password: type them when asked, or send two lines',
    );
  }
  if (secretKey === '')
    throw new ProgramError('BadArgument', 'The secret key is missing: it is a line after the password');
  const alias = await login(context, url, name, password);
  const admin = new AdminClient(await context.client(alias));
  await makeAccessKey(context, admin, { call: 'idp/ldap/add-service-account', options, asked: secretKey });
}

/** Gets temporary credentials of the user. The password is only in the body, which no trace shows. */
async function login(context: Context, url: string, name: string, password: string): Promise<Alias> {
  const anonymous: Alias = { url, accessKey: '', secretKey: '', api: 'S3v4', path: 'auto' };
  const client = await context.client(anonymous);
  const { accessKey, secretKey, sessionToken } = await assumeRole(client, 'AssumeRoleWithLDAPIdentity', {
    LDAPUsername: name,
    LDAPPassword: password,
    DurationSeconds: loginDuration,
  });
  return { ...anonymous, accessKey, secretKey, sessionToken };
}
