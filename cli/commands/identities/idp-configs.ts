import { adminOf, pathPart, type AdminRequest } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { fillRecipe, providerRecipes, type ProviderRecipe } from '../../../protocol/settings/provider-recipes.ts';
import type { Context } from '../context.ts';
import { textFields } from '../../terminal/format.ts';
import { keyValueText, printSaved } from '../admin/config.ts';

export type IdpType = 'openid' | 'ldap';

/** The server's name of the configuration without a name. */
export const nameless = '_';

interface ConfigSummary {
  readonly type?: string;
  readonly name?: string;
  readonly enabled?: boolean;
  readonly roleARN?: string;
}

interface ConfigDetails {
  readonly type?: string;
  readonly name?: string;
  readonly info?: readonly ConfigEntry[] | null;
}

interface ConfigEntry {
  readonly key: string;
  readonly value: string;
  /** Set in the environment, so it cannot be changed here. */
  readonly isEnv?: boolean;
}

export interface SaveIdpOptions {
  /** Saves an OpenID provider without a successful test. */
  readonly force?: true | undefined;
  /** The recipe of an OpenID provider, such as `keycloak`. */
  readonly provider?: string;
}

/** Saves `ALIAS [NAME] key=value …`. */
export async function saveIdp(
  context: Context,
  [alias = '', ...words]: readonly string[],
  type: IdpType,
  { mode, force, provider }: SaveIdpOptions & { readonly mode: 'add' | 'update' },
): Promise<void> {
  const { name, settings: given } = nameAndSettings(words, type);
  const recipe = provider === undefined ? undefined : recipeNamed(provider);
  const settings = recipe === undefined ? given : withRecipe(recipe, given);
  if (settings.length === 0) {
    throw new ProgramError('BadArgument', `No settings are given; write for instance ${exampleSettings(type)}`);
  }
  const body = await keyValueText(context, settings);
  await sendIdp(context, alias, { type, name, mode, force, recipe }, body);
}

interface SentIdp extends Pick<SaveIdpOptions, 'force'> {
  readonly type: IdpType;
  readonly name: string;
  readonly mode: 'add' | 'update';
  readonly recipe: ProviderRecipe | undefined;
}

/** Saves settings that are written as `key=value …`, and says what the provider is known for. */
export async function sendIdp(
  context: Context,
  alias: string,
  { type, name, mode, force, recipe }: SentIdp,
  body: string,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const headers = await admin.send({
    method: mode === 'add' ? 'PUT' : 'POST',
    ...target(type, name),
    ...(force === true && { query: { force: 'true' } }),
    body,
    encrypted: true,
  });
  printSaved(context, alias, headers, { type, name });
  if (recipe !== undefined) context.output.hint(`${recipe.title}: ${recipe.advice}`);
  if (type === 'openid') context.output.hint(`Try it: coffer idp openid test ${alias} ${name}`);
}

export async function listIdps(context: Context, [alias = '']: readonly string[], type: IdpType): Promise<void> {
  const admin = await adminOf(context, alias);
  const list =
    (await admin.decryptedJson<readonly ConfigSummary[] | null>({ method: 'GET', call: `idp-config/${type}` })) ?? [];
  const human =
    list.length === 0
      ? `None is configured. Add one: coffer idp ${type} add ${alias}${type === 'openid' ? ' NAME' : ''} ${exampleSettings(type)}`
      : context.output.table(
          ['NAME', 'STATUS', 'ROLE ARN'],
          list.map(({ name = '', enabled, roleARN = '' }) => [
            formatName(name),
            enabled === true ? 'enabled' : 'disabled',
            roleARN || '-',
          ]),
        );
  context.output.list(
    human,
    list.map((configuration) => ({ ...configuration })),
  );
}

export async function showIdp(
  context: Context,
  [alias = '', name = nameless]: readonly string[],
  type: IdpType,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const result = await admin.decryptedJson<ConfigDetails>({ method: 'GET', ...target(type, name) });
  const entries = result.info ?? [];
  const values = Object.fromEntries(
    entries.map(({ key, value, isEnv }) => [key, isEnv === true ? `${value} (from the environment)` : value]),
  );
  context.output.message(textFields({ name: formatName(name), ...values }), { ...result });
}

/** Returns the client of an OpenID provider; undefined where there is none of the name. */
export async function clientOf(context: Context, alias: string, name: string): Promise<string | undefined> {
  const admin = await adminOf(context, alias);
  const call = { method: 'GET', call: 'idp-config/openid' } as const;
  const list = (await admin.decryptedJson<readonly ConfigSummary[] | null>(call)) ?? [];
  if (!list.some((one) => (one.name === undefined || one.name === '' ? nameless : one.name) === name)) return undefined;
  const { info } = await admin.decryptedJson<ConfigDetails>({ method: 'GET', ...target('openid', name) });
  return info?.find(({ key }) => key === 'client_id')?.value ?? '';
}

export async function removeIdp(
  context: Context,
  [alias = '', name = nameless]: readonly string[],
  type: IdpType,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const headers = await admin.send({ method: 'DELETE', ...target(type, name) });
  printSaved(context, alias, headers, { type, name });
}

export async function switchIdp(
  context: Context,
  [alias = '', name = nameless]: readonly string[],
  type: IdpType,
  enable: 'on' | 'off',
): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = `enable=${enable}`;
  const headers = await admin.send({ method: 'POST', ...target(type, name), body, encrypted: true });
  printSaved(context, alias, headers, { type, name });
}

export function recipeNamed(name: string): ProviderRecipe {
  const recipe = providerRecipes.find((one) => one.name === name);
  if (recipe !== undefined) return recipe;
  const known = providerRecipes.map((one) => one.name).join(', ');
  throw new ProgramError('BadArgument', `There is no recipe for \`${name}\`; there are ${known}`);
}

/** Puts the settings of a recipe before what the user gave, which wins. */
function withRecipe(recipe: ProviderRecipe, given: readonly string[]): readonly string[] {
  const parts = new Map<string, string>();
  const settings: string[] = [];
  for (const word of given) {
    const [, key = '', value = ''] = /^([a-z_]+)=(.*)$/su.exec(word) ?? [];
    if (recipe.parts.some(({ name }) => name === key)) parts.set(key, value);
    else settings.push(word);
  }
  const chosen = new Set(settings.flatMap((word) => word.split('=')[0] ?? []));
  const filled = fillRecipe(recipe, parts, chosen);
  if (filled.kind === 'missing') {
    const missing = filled.parts.map(({ name, example }) => `${name}=${example}`).join(' and ');
    throw new ProgramError('BadArgument', `${recipe.title} needs ${missing}, with the value of yours`);
  }
  return [...Object.entries(filled.settings).map(([key, value]) => `${key}=${value}`), ...settings];
}

function target(type: IdpType, name: string): Pick<AdminRequest, 'call'> {
  return { call: `idp-config/${type}/${pathPart(name)}` };
}

/** The first word is the name unless it is a setting. */
function nameAndSettings(words: readonly string[], type: IdpType) {
  const [first = '', ...rest] = words;
  if (first === '' || first.includes('=')) return { name: nameless, settings: words };
  if (type === 'ldap')
    throw new ProgramError('BadArgument', `There is one directory, without a name: leave \`${first}\` out`);
  return { name: first, settings: rest };
}

function formatName(name: string): string {
  return name === nameless || name === '' ? '(default)' : name;
}

function exampleSettings(type: IdpType): string {
  return type === 'openid'
    ? 'config_url=https://idp.example.com/.well-known/openid-configuration client_id=coffer client_secret=-'
    : 'server_addr=ldap.example.org:636 lookup_bind_dn=cn=reader,dc=example,dc=org lookup_bind_password=-';
}
