import { ProgramError } from '../../../platform/errors/program-error.ts';
import { adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** The source of the names: this server or LDAP. */
export type EntityKind = 'builtin' | 'ldap';
type Change = 'attach' | 'detach';

interface Changed {
  readonly policiesAttached?: readonly string[];
  readonly policiesDetached?: readonly string[];
}

export interface HolderOptions {
  readonly user?: string;
  readonly group?: string;
}

/** Attaches policies to a user or group, or detaches them. */
export async function changeAttachments(
  context: Context,
  [alias = '', ...policies]: readonly string[],
  options: HolderOptions,
  how: { readonly kind: EntityKind; readonly change: Change },
): Promise<void> {
  const { user, group } = options;
  if ((user === undefined) === (group === undefined)) {
    throw new ProgramError('BadArgument', 'Say whose policies: either `--user NAME` or `--group NAME`');
  }
  const admin = await adminOf(context, alias);
  const holder = user === undefined ? { group } : { user };
  const changed = await admin
    .decryptedJson<Changed>({
      method: 'POST',
      call: `idp/${how.kind}/policy/${how.change}`,
      body: { policies, ...holder },
      encrypted: true,
    })
    .catch(ignoreNoChange);
  const attached = changed.policiesAttached ?? (how.change === 'attach' ? policies : undefined);
  const detached = changed.policiesDetached ?? (how.change === 'detach' ? policies : undefined);
  const list = (attached ?? detached ?? []).join(', ');
  const [verb, preposition] = how.change === 'attach' ? ['Attached', 'to'] : ['Detached', 'from'];
  const named = user === undefined ? `group \`${group}\`` : `user \`${user}\``;
  context.output.message(`${verb} ${list} ${preposition} ${named}.`, {
    policiesAttached: attached,
    policiesDetached: detached,
    ...holder,
  });
}

/** A repeated script finds nothing to change, which is not a failure. */
function ignoreNoChange(error: unknown): Record<string, never> {
  if (error instanceof ResponseError && error.code === 'XMinioAdminPolicyChangeAlreadyApplied') return {};
  throw error;
}

interface Entities {
  readonly timestamp?: string;
  readonly userMappings?: readonly UserMapping[];
  readonly groupMappings?: readonly GroupMapping[];
  readonly policyMappings?: readonly PolicyMapping[];
}

interface GroupMapping {
  readonly group: string;
  readonly policies?: readonly string[] | null;
}

interface UserMapping {
  readonly user: string;
  readonly policies?: readonly string[] | null;
  readonly memberOfMappings?: readonly GroupMapping[];
}

interface PolicyMapping {
  readonly policy: string;
  readonly users?: readonly string[] | null;
  readonly groups?: readonly string[] | null;
}

export interface EntitiesOptions {
  readonly user?: readonly string[];
  readonly group?: readonly string[];
  readonly policy?: readonly string[];
}

export async function showEntities(
  context: Context,
  [alias = '']: readonly string[],
  { user = [], group = [], policy = [] }: EntitiesOptions,
  kind: EntityKind,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const result = await admin.decryptedJson<Entities>({
    method: 'GET',
    call: `idp/${kind}/policy-entities`,
    query: { user, group, policy },
  });
  context.output.message(entitiesTables(context, result), { result });
}

function entitiesTables(context: Context, result: Entities): string {
  const { userMappings = [], groupMappings = [], policyMappings = [] } = result;
  const parts = [
    userMappings.length === 0
      ? []
      : [
          context.output.table(
            ['USER', 'POLICIES', 'BY GROUPS'],
            userMappings.map(({ user, policies, memberOfMappings = [] }) => [
              user,
              listed(policies),
              memberOfMappings.map(({ group, policies: own }) => `${group} (${listed(own)})`).join(', ') || '-',
            ]),
          ),
        ],
    groupMappings.length === 0
      ? []
      : [
          context.output.table(
            ['GROUP', 'POLICIES'],
            groupMappings.map(({ group, policies }) => [group, listed(policies)]),
          ),
        ],
    policyMappings.length === 0
      ? []
      : [
          context.output.table(
            ['POLICY', 'USERS', 'GROUPS'],
            policyMappings.map(({ policy, users, groups }) => [policy, listed(users), listed(groups)]),
          ),
        ],
  ].flat();
  return parts.join('\n\n') || 'Nothing is attached.';
}

function listed(names: readonly string[] | null | undefined): string {
  return (names ?? []).join(', ') || '-';
}

export interface ClaimOptions {
  /** The name of the provider's configuration. */
  readonly provider?: string;
  /** `sub`, or a path into the claims with `/`. */
  readonly claim?: string;
  /** A pattern with `*` and `?`. */
  readonly value?: string;
}

/** Attaches policies to all users whose token has a claim, or detaches them. */
export async function changeClaimPolicies(
  context: Context,
  [alias = '', ...policies]: readonly string[],
  { provider = '_', claim, value }: ClaimOptions,
  change: Change,
): Promise<void> {
  if (claim === undefined || value === undefined) {
    throw new ProgramError(
      'BadArgument',
      'Say whose policies: --claim NAME and --value VALUE, with --provider CONFIGURATION',
    );
  }
  const admin = await adminOf(context, alias);
  const changed = await admin
    .decryptedJson<Record<string, unknown>>({
      method: 'POST',
      api: 'coffer',
      call: `claim-policy/${change}`,
      body: { provider, claim, value, policies },
      encrypted: true,
    })
    .catch(ignoreNoChange);
  const [verb, preposition] = change === 'attach' ? ['Attached', 'to'] : ['Detached', 'from'];
  context.output.message(
    `${verb} ${policies.join(', ')} ${preposition} all users of ${provider} with ${claim}=${value}.`,
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
  const { claims = [] } = await admin.decryptedJson<{ readonly claims?: readonly ClaimMapping[] }>({
    method: 'GET',
    api: 'coffer',
    call: 'claim-policy',
  });
  const human =
    claims.length === 0
      ? 'Nothing is attached to claims.'
      : context.output.table(
          ['PROVIDER', 'CLAIM', 'VALUE', 'POLICIES'],
          claims.map(({ provider, claim, value, policies }) => [provider, claim, value, policies.join(', ')]),
        );
  context.output.list(
    human,
    claims.map((one) => ({ ...one })),
  );
}
