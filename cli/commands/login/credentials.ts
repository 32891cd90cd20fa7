import { findAlias } from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';

/**
 * Prints the credentials of an alias, which are renewed before where they come from a login, as other programs of AWS take them.
 *
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html
 */
export async function printCredentials(context: Context, [given = '']: readonly string[]): Promise<void> {
  const name = given.replace(/\/+$/, '');
  const found = findAlias(await context.aliases(), name);
  const { accessKey, secretKey, sessionToken, login } = (await context.client(found)).alias;
  if (accessKey === '') {
    throw new ProgramError('BadAlias', `The alias \`${name}\` has no keys: \`coffer login ${name}\` gets some`);
  }
  const document = {
    Version: 1,
    AccessKeyId: accessKey,
    SecretAccessKey: secretKey,
    SessionToken: sessionToken,
    Expiration: login?.expires.toISOString(),
  };
  context.io.stdout.write(`${JSON.stringify(document)}\n`);
}
