import { counted } from '../../../platform/text/message-text.ts';
import { adminOf } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';

/** The source of the users: this server, OpenID or LDAP. */
export type Provider = 'builtin' | 'openid' | 'ldap';

export interface RevokeOptions {
  /** All temporary credentials of the user. */
  readonly all?: boolean;
  /** The credentials of the caller. */
  readonly self?: boolean;
  /** Only those with this label. */
  readonly tokenType?: string;
}

/** Revokes temporary credentials of a user or of the caller. */
export async function revokeTokens(
  context: Context,
  [alias = '', user]: readonly string[],
  options: RevokeOptions,
  provider: Provider,
): Promise<void> {
  const { all, self, tokenType } = options;
  if ((user === undefined) !== (self === true)) {
    throw new ProgramError('BadArgument', 'Say whose temporary credentials end: name a user, or give --self');
  }
  if ((all === true) === (tokenType !== undefined)) {
    throw new ProgramError('BadArgument', 'Say which of them end: --all, or --token-type LABEL');
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
    user,
    tokenRevokeType: tokenType,
    ...(all ? { fullRevoke: true } : {}),
  });
}

interface Report {
  readonly checked?: number;
  readonly active?: number;
  readonly cutOff?: readonly {
    readonly provider: string;
    readonly name: string;
    readonly reason: string;
    readonly temporaryCredentials: number;
    readonly serviceAccounts: readonly string[];
  }[];
  readonly unreachable?: readonly { readonly provider: string; readonly people: number; readonly reason: string }[];
}

/** Makes the server ask its providers whether users with credentials still exist. */
export async function checkUsers(context: Context, [alias = '', user]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const report = await admin.longRunning<Report>({
    method: 'POST',
    api: 'coffer',
    call: 'identity-check',
    query: { user },
  });
  const { checked = 0, active = 0, cutOff: revoked = [], unreachable = [] } = report;
  const table = context.output.table(
    ['USER', 'PROVIDER', 'REASON', 'TEMPORARY', 'ACCESS KEYS'],
    revoked.map(({ name, provider, reason, temporaryCredentials, serviceAccounts }) => [
      name,
      provider,
      reason,
      String(temporaryCredentials),
      serviceAccounts.join(', ') || '-',
    ]),
  );
  context.output.message(
    [
      `Checked ${counted(checked, 'user')}: ${active} active, ${revoked.length} lost access.`,
      ...(revoked.length === 0 ? [] : [table]),
      ...unreachable.map(
        ({ provider, people, reason }) => `${counted(people, 'user')} of ${provider} could not be checked: ${reason}`,
      ),
    ].join('\n'),
    { ...report },
  );
}
