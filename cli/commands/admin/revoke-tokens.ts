import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';

/** Who knows the people: this server, OpenID providers, a directory. */
export type Provider = 'builtin' | 'openid' | 'ldap';

export interface RevokeOptions {
  /** All of the user's. */
  readonly all?: boolean;
  /** Of the caller. */
  readonly self?: boolean;
  /** Only those that were made with this label. */
  readonly tokenType?: string;
}

/** Ends temporary credentials of a user, or of the caller. */
export async function revokeTokens(
  context: Context,
  [alias = '', user]: readonly string[],
  options: RevokeOptions,
  provider: Provider,
): Promise<void> {
  const { all, self, tokenType } = options;
  if ((user === undefined) !== (self === true)) {
    throw new CliError('BadArgument', 'Say whose temporary credentials end: name a user, or give --self');
  }
  if ((all === true) === (tokenType !== undefined)) {
    throw new CliError('BadArgument', 'Say which of them end: --all, or --token-type LABEL');
  }
  const admin = await adminOf(context, alias);
  await admin.send({
    method: 'POST',
    call: `revoke-tokens/${provider}`,
    query: { user, ...(all ? { fullRevoke: 'true' } : { tokenRevokeType: tokenType }) },
  });
  const whose = user === undefined ? 'your own' : `those of \`${user}\``;
  const which = tokenType === undefined ? 'all' : `with the label \`${tokenType}\``;
  context.output.message(`Ended temporary credentials: ${whose}, ${which}.`, {
    ...(user === undefined ? {} : { user }),
    ...(tokenType === undefined ? {} : { tokenRevokeType: tokenType }),
    ...(all ? { fullRevoke: true } : {}),
  });
}
