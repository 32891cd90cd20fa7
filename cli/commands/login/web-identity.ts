import { readTokenFile } from '../../../platform/settings/read-setting-file.ts';
import type { Alias, WebIdentity } from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { assumeRole } from '../../s3/temporary-credentials.ts';
import type { Context } from '../context.ts';

/** Milliseconds. */
const marginMs = 60_000;

/**
 * Returns a function that returns the alias with temporary credentials for the token in a file. They are renewed before they expire, by the
 * token that is in the file then. Concurrent calls wait for one renewal.
 */
export function webIdentityCredentials(context: Context, alias: Alias, identity: WebIdentity): () => Promise<Alias> {
  let current: { readonly alias: Alias; readonly until: number } | undefined;
  let renewing: Promise<{ readonly alias: Alias; readonly until: number }> | undefined;
  return async () => {
    if (current !== undefined && current.until - marginMs > Date.now()) return current.alias;
    renewing ??= exchange(context, alias, identity).finally(() => (renewing = undefined));
    current = await renewing;
    return current.alias;
  };
}

async function exchange(context: Context, alias: Alias, { endpoint, tokenFile, roleArn, sessionName }: WebIdentity) {
  const token = await readTokenFile(tokenFile).catch((error: unknown) => {
    throw new ProgramError('BadConfig', `Unable to read the token \`${tokenFile}\``, { cause: error });
  });
  const { path, api } = alias;
  const client = await context.client({ url: endpoint, path, api, accessKey: '', secretKey: '' });
  const { expiration, ...credentials } = await assumeRole(client, 'AssumeRoleWithWebIdentity', {
    WebIdentityToken: token,
    RoleSessionName: sessionName,
    ...(roleArn !== '' && { RoleArn: roleArn }),
  });
  return { alias: { ...alias, ...credentials }, until: new Date(expiration).getTime() };
}
