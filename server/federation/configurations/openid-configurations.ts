import { IdentityError } from '../../auth/identity-error.ts';
import { openIdKeys, providerFromKeys, keysOf } from '../../../platform/settings/openid-settings.ts';
import { clientClash, openIdContradictions } from '../../../platform/settings/openid-contradictions.ts';
import type { OpenIdProviderSettings } from '../../../platform/settings/server-settings.ts';
import {
  invalid,
  mergedKeys,
  redacted,
  type ConfigurationDetails,
  type ConfigurationKey,
  type IdentityProviderConfigurations,
  type TestStep,
} from './provider-configurations.ts';
import { OpenIdError } from '../../../platform/openid/errors.ts';
import { formatKeyValues } from '../../../protocol/settings/key-values.ts';
import type { StoredProviderSource } from '../openid-providers.ts';
import { roleArn } from '../../auth/principal.ts';
import { proveOpenIdProvider, testOpenIdProvider } from './test-openid-provider.ts';
import type { StoredConfiguration, StoredConfigurations } from './stored-configurations.ts';

/** The configuration keys of OpenID providers. */
const openIdTable = { keys: openIdKeys, whose: 'an OpenID provider' };

/** Makes the provider from keys and checks it against the other providers. Throws `IdentityError`. */
function checkedProvider(
  name: string,
  values: ReadonlyMap<string, string>,
  others: readonly OpenIdProviderSettings[],
): OpenIdProviderSettings {
  checkName(name);
  const { provider, problems } = providerFromKeys(name, values);
  if (problems.length > 0) throw invalid(problems);
  if (provider === undefined) throw invalid(['config_url and client_id are missing: no provider can be used without']);
  const wrong = [
    ...openIdContradictions(provider, (part) => keyOf.get(part) ?? part),
    ...[clientClash(provider, others, 'client_id') ?? []].flat(),
  ];
  if (wrong.length > 0) throw invalid(wrong);
  return provider;
}

/** The first key of the settings that have several. */
const keyOf: ReadonlyMap<string, string> = new Map([
  ['idp_admin_url', 'keycloak_admin_url'],
  ['idp_realm', 'keycloak_realm'],
]);

function checkName(name: string): void {
  if (name === '_' || /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return;
  throw invalid([
    `${JSON.stringify(name.slice(0, 80))} is no name of a configuration: 1 to 64 of A-Z a-z 0-9 _ -, the first a letter or digit`,
  ]);
}

const subsystem = 'identity_openid';

interface OpenIdConfigurationsOptions {
  readonly stored: StoredConfigurations;
  /** The providers of the environment, which cannot be changed here. */
  readonly environment: readonly OpenIdProviderSettings[];
  readonly region: string;
  readonly policyExists: (name: string) => Promise<boolean>;
  /** Puts saved configurations into effect. */
  readonly apply: () => Promise<void>;
  /** Rejects with `OpenIdError` if the provider cannot be used. */
  readonly probe?: (provider: OpenIdProviderSettings, redirectUri: string | undefined) => Promise<void>;
  /** The redirect address of a provider, if it is known without a browser. */
  readonly redirectUri?: (provider: OpenIdProviderSettings) => string | undefined;
}

/** The OpenID providers that administrators create, change and remove. A save first tests the provider. */
export function openIdConfigurations(options: OpenIdConfigurationsOptions): IdentityProviderConfigurations {
  const { stored, environment } = options;
  const probe = options.probe ?? proveOpenIdProvider;
  const redirectUri = (provider: OpenIdProviderSettings) => options.redirectUri?.(provider) ?? provider.redirectUri;
  const test = async (provider: OpenIdProviderSettings): Promise<readonly TestStep[]> => [
    ...(await testOpenIdProvider(provider, redirectUri(provider))),
    ...(await roleSteps(provider, options.policyExists)),
  ];
  const fixed = (name: string) => environment.find(({ id }) => id === name);

  function editable(name: string): void {
    if (fixed(name) === undefined) return;
    throw new IdentityError(
      'from-environment',
      `The configuration ${name} comes from the environment (SVC_IDENTITY_OPENID_…): change it there and restart the server.`,
    );
  }

  function described(provider: OpenIdProviderSettings, values: ReadonlyMap<string, string>, fromEnvironment: boolean) {
    const details: ConfigurationDetails = {
      name: provider.id,
      enabled: provider.enabled,
      roleArn:
        provider.rolePolicy.length === 0
          ? 'arn:minio:iam:::role/dummy-internal'
          : roleArn(options.region, provider.clientId),
      origin: fromEnvironment ? 'environment' : 'stored',
      values: openIdKeys.flatMap(({ key, row }) => {
        const value = values.get(key);
        return value === undefined ? [] : [{ key, value: row.secret ? redacted : value }];
      }),
    };
    return details;
  }

  async function all(): Promise<ConfigurationDetails[]> {
    const fromEnvironment = environment.map((provider) => described(provider, keysOf(provider), true));
    const fromStore = (await stored.list(subsystem))
      .filter(({ name }) => fixed(name) === undefined)
      .map((configuration) => described(...asProvider(configuration), false));
    return [...fromEnvironment, ...fromStore];
  }

  return {
    subsystem,
    description: 'OpenID providers by which users and applications sign in',
    multiple: true,
    keys: configurationKeys,
    list: all,
    get: async (name) => (await all()).find((configuration) => configuration.name === name),

    async save(name, given, mode, { unproven } = { unproven: false }) {
      editable(name);
      const check = (known: readonly StoredConfiguration[]) => {
        const before = known.find((configuration) => configuration.name === name);
        if (mode === 'add' && before !== undefined) throw exists(name);
        if (mode === 'update' && before === undefined) throw noSuchName(name);
        const values = mergedKeys(openIdTable, before?.values, given, { replace: mode === 'replace' });
        const others = known.filter((configuration) => configuration.name !== name);
        const provider = checkedProvider(name, values, [...environment, ...others.map((one) => asProvider(one)[0])]);
        const had = before === undefined ? [] : asProvider(before)[0].rolePolicy;
        return { values, provider, newPolicies: provider.rolePolicy.filter((policy) => !had.includes(policy)) };
      };
      // The probe runs before the change, so that a slow provider delays no other change.
      const { provider, newPolicies } = check(await stored.list(subsystem));
      if (provider.enabled && !unproven) {
        // A policy that was removed since must not stand in the way of another change, nor policies that come after an import.
        const wrong = mode === 'replace' ? undefined : await unknownPolicies(newPolicies, options.policyExists);
        if (wrong !== undefined) throw unusable(wrong);
        await usable(provider, (one) => probe(one, redirectUri(one)));
      }
      await stored.change(subsystem, (known) => {
        const now = check(known);
        return { put: [{ name, values: now.values }], text: lineOf(name, now.values) };
      });
      await options.apply();
      return { applied: true };
    },

    async test(name, given) {
      const fromEnvironment = fixed(name);
      // Only the settings have read the files that the environment names.
      if (fromEnvironment !== undefined) return test(fromEnvironment);
      const known = await stored.list(subsystem);
      const before = known.find((configuration) => configuration.name === name);
      if (before === undefined && given === undefined) throw noSuchName(name);
      const values = mergedKeys(openIdTable, before?.values, given ?? new Map(), { replace: given !== undefined });
      const others = known.filter((configuration) => configuration.name !== name);
      return test(checkedProvider(name, values, [...environment, ...others.map((one) => asProvider(one)[0])]));
    },

    async remove(name, keys) {
      editable(name);
      await stored.change(subsystem, (known) => {
        const before = known.find((configuration) => configuration.name === name);
        if (before === undefined) throw noSuchName(name);
        if (keys === undefined) return { remove: [name], text: lineOf(name, before.values) };
        const values = mergedKeys(openIdTable, before.values, new Map(keys.map((key) => [key, ''])));
        const others = known.filter((configuration) => configuration.name !== name);
        checkedProvider(name, values, [...environment, ...others.map((one) => asProvider(one)[0])]);
        return { put: [{ name, values }], text: lineOf(name, before.values) };
      });
      await options.apply();
      return { applied: true };
    },
  };
}

/** Reads the stored providers. It skips configurations from a newer server that this one cannot read. */
export function storedProviders(stored: StoredConfigurations): StoredProviderSource {
  return {
    revision: () => stored.revision(),
    read: async () =>
      (await stored.list(subsystem)).flatMap(({ name, values }) => {
        const { provider, problems } = providerFromKeys(name, values);
        return provider === undefined || problems.length > 0 ? [] : [provider];
      }),
  };
}

function asProvider({ name, values }: StoredConfiguration): [OpenIdProviderSettings, ReadonlyMap<string, string>] {
  const { provider } = providerFromKeys(name, values);
  if (provider !== undefined) return [provider, values];
  const broken = { id: name, enabled: false, configUrl: '', clientId: values.get('client_id') ?? '', realm: '' };
  const none = { scopes: [], claimName: 'policy', claimUserinfo: false, rolePolicy: [], redirectUriDynamic: false };
  return [{ ...broken, ...none }, values];
}

const configurationKeys: readonly ConfigurationKey[] = openIdKeys.map(({ key, row }) => ({
  key,
  help: row.help,
  type: row.type.kind === 'list' ? 'csv' : row.type.kind === 'text' ? 'string' : row.type.kind,
  optional: key !== 'config_url' && key !== 'client_id',
  secret: row.secret,
  variable: row.aliases.find((alias) => alias.startsWith('MINIO_')) ?? row.name,
}));

async function usable(
  provider: OpenIdProviderSettings,
  probe: (provider: OpenIdProviderSettings) => Promise<void>,
): Promise<void> {
  try {
    await probe(provider);
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error;
    throw unusable(error.message, error);
  }
}

function unusable(why: string, cause?: Error): IdentityError {
  return new IdentityError(
    'unusable-provider',
    `The provider cannot be used: ${why} "coffer idp openid … --force" saves it all the same.`,
    { cause },
  );
}

/** Returns what is wrong with the role policy: nobody gets rights by policies that do not exist. */
async function unknownPolicies(
  rolePolicy: readonly string[],
  policyExists: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  const found = await Promise.all(rolePolicy.map(policyExists));
  const unknown = rolePolicy.filter((_, at) => found[at] !== true);
  if (unknown.length === 0) return undefined;
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  return `role_policy names ${names}, and no such policy exists: create it first, or name one that exists.`;
}

async function roleSteps(
  provider: OpenIdProviderSettings,
  policyExists: (name: string) => Promise<boolean>,
): Promise<readonly TestStep[]> {
  if (provider.rolePolicy.length === 0) return [];
  const wrong = await unknownPolicies(provider.rolePolicy, policyExists);
  const message = wrong ?? `The policies exist: ${provider.rolePolicy.join(', ')}.`;
  return [{ step: 'Role policy', outcome: wrong === undefined ? 'ok' : 'failed', message }];
}

function lineOf(name: string, values: ReadonlyMap<string, string>): string {
  return `${subsystem}${name === '_' ? '' : `:${name}`} ${formatKeyValues(values)}`;
}

function configurationNamed(name: string): string {
  return name === '_' ? 'default configuration' : `configuration ${JSON.stringify(name.slice(0, 64))}`;
}

function exists(name: string): IdentityError {
  return new IdentityError(
    'configuration-exists',
    `There is a ${configurationNamed(name)} already: change it by "update", or remove it first.`,
  );
}

function noSuchName(name: string): IdentityError {
  return new IdentityError('no-such-configuration', `There is no ${configurationNamed(name)}: make it by "add".`);
}
