import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { textTable } from '../../terminal/text-table.ts';
import { alreadySo, type Change } from './policy-attachments.ts';

export interface ClaimOptions {
  /** The name of the provider's configuration. */
  readonly provider?: string;
  /** `sub`, or a path with `/` into claims. */
  readonly claim?: string;
  /** `*` and `?` are wild. */
  readonly value?: string;
}

/** Gives policies to everybody whose token has a claim, or takes them away. */
export async function changeClaimPolicies(
  context: Context,
  [alias = '', ...policies]: readonly string[],
  { provider = '_', claim, value }: ClaimOptions,
  change: Change,
): Promise<void> {
  if (claim === undefined || value === undefined) {
    throw new CliError(
      'BadArgument',
      'Say whose policies: --claim NAME and --value VALUE, with --provider CONFIGURATION',
    );
  }
  const admin = await adminOf(context, alias);
  const changed = await admin
    .openedJson<Record<string, unknown>>({
      method: 'POST',
      api: 'coffer',
      call: `claim-policy/${change}`,
      body: { provider, claim, value, policies },
      sealed: true,
    })
    .catch(alreadySo);
  const [verb, preposition] = change === 'attach' ? ['Attached', 'to'] : ['Detached', 'from'];
  context.output.message(
    `${verb} ${policies.join(', ')} ${preposition} everybody of ${provider} with ${claim}=${value}.`,
    {
      provider,
      claim,
      value,
      ...changed,
    },
  );
}

interface ClaimMapping {
  readonly provider: string;
  readonly claim: string;
  readonly value: string;
  readonly policies: readonly string[];
}

export async function listClaimPolicies(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { claims = [] } = await admin.openedJson<{ readonly claims?: readonly ClaimMapping[] }>({
    method: 'GET',
    api: 'coffer',
    call: 'claim-policy',
  });
  const human =
    claims.length === 0
      ? 'Nothing is attached to claims.'
      : textTable(
          ['PROVIDER', 'CLAIM', 'VALUE', 'POLICIES'],
          claims.map(({ provider, claim, value, policies }) => [provider, claim, value, policies.join(', ')]),
        );
  context.output.list(
    human,
    claims.map((one) => ({ ...one })),
  );
}
