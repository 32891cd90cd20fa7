import { IdentityError, isDirectoryError } from '../../auth/identity-error.ts';
import { type LdapSettings, ldapFromKeys, ldapKeys, ldapKeysOf } from '../../../platform/settings/identity-settings.ts';
import { formatKeyValues } from '../../../protocol/settings/key-values.ts';
import type { StoredDirectory } from '../ldap/configured-directory.ts';
import { type LdapUserPolicies } from '../ldap/ldap-user.ts';
import {
  redacted,
  type ConfigurationDetails,
  type ConfigurationKey,
  type IdentityProviderConfigurations,
  invalid,
  mergedKeys,
  type TestStep,
} from './provider-configurations.ts';
import type { StoredConfiguration, StoredConfigurations } from './stored-configurations.ts';
import type { LdapUser } from '../ldap/ldap-user.ts';

const subsystem = 'identity_ldap';
/** There is only one directory, and it has no name. */
const onlyName = '_';
const table = { keys: ldapKeys, whose: 'the directory' };

interface LdapConfigurationsOptions {
  readonly stored: StoredConfigurations;
  /** The directory of the environment, which cannot be changed here. */
  readonly environment?: LdapSettings | undefined;
  /** The sign-in test shows the policies of a user. */
  readonly rights: LdapUserPolicies;
  /** Rejects with `IdentityError` if the directory cannot be used. */
  readonly probe?: (directory: LdapSettings) => Promise<void>;
}

/** The directory configuration that administrators create, change and remove. A save first tests connection, lookup account and search. */
export function ldapConfigurations(options: LdapConfigurationsOptions): IdentityProviderConfigurations {
  const { stored, environment } = options;
  const probe = options.probe ?? probeDirectory;

  function editable(name: string): void {
    if (name !== onlyName) {
      const given = JSON.stringify(name.slice(0, 64));
      throw invalid([`there is one directory, which has no name: leave ${given} out`]);
    }
    if (environment === undefined) return;
    throw new IdentityError(
      'from-environment',
      'The directory comes from the environment (SVC_IDENTITY_LDAP_…): change it there and restart the server.',
    );
  }

  async function all(): Promise<ConfigurationDetails[]> {
    if (environment !== undefined) return [described(ldapKeysOf(environment), 'environment')];
    return (await stored.list(subsystem)).map(({ values }) => described(values, 'stored'));
  }

  return {
    subsystem,
    description: 'the directory (LDAP) whose users sign in by name and password',
    multiple: false,
    keys: configurationKeys,
    list: all,
    get: async (name) => (await all()).find((configuration) => configuration.name === name),

    async save(name, given, mode) {
      editable(name);
      const check = (known: readonly StoredConfiguration[]) => {
        const [before] = known;
        if (mode === 'add' && before !== undefined) throw exists();
        if (mode === 'update' && before === undefined) throw noneYet();
        const values = mergedKeys(table, before?.values, given, { replace: mode === 'replace' });
        return { values, directory: checked(values) };
      };
      // The probe runs before the change, so that a slow directory delays no other change.
      const { directory } = check(await stored.list(subsystem));
      if (directory !== undefined) await usable(directory, probe);
      await stored.change(subsystem, (known) => {
        const { values } = check(known);
        return { put: [{ name: onlyName, values }], text: lineOf(values) };
      });
      return { applied: true };
    },

    async test(name, given, user) {
      // The settings have already read the files that the environment names.
      if (environment !== undefined) return testLdapDirectory(environment, user, options.rights);
      editable(name);
      const [before] = await stored.list(subsystem);
      if (before === undefined && given === undefined) throw noneYet();
      const values = mergedKeys(table, before?.values, given ?? new Map(), { replace: given !== undefined });
      // A disabled directory can be tested before it is enabled.
      const directory = checked(new Map([...values, ['enable', 'on']]));
      if (directory === undefined) throw noneYet();
      return testLdapDirectory(directory, user, options.rights);
    },

    async remove(name, keys) {
      editable(name);
      await stored.change(subsystem, ([before]) => {
        if (before === undefined) throw noneYet();
        if (keys === undefined) return { remove: [onlyName], text: lineOf(before.values) };
        const values = mergedKeys(table, before.values, new Map(keys.map((key) => [key, ''])));
        checked(values);
        return { put: [{ name: onlyName, values }], text: lineOf(before.values) };
      });
      return { applied: true };
    },
  };
}

/** Reads the stored directory. A configuration from a newer server that this one cannot read counts as none. */
export function storedDirectory(stored: StoredConfigurations): StoredDirectory {
  return {
    revision: () => stored.revision(),
    async read() {
      const [configuration] = await stored.list(subsystem);
      if (configuration === undefined) return undefined;
      const { directory, problems } = ldapFromKeys(configuration.values);
      return problems.length > 0 ? undefined : directory;
    },
  };
}

function described(values: ReadonlyMap<string, string>, origin: ConfigurationDetails['origin']): ConfigurationDetails {
  return {
    name: onlyName,
    enabled: ldapFromKeys(values).directory !== undefined,
    origin,
    values: ldapKeys.flatMap(({ key, row }) => {
      const value = values.get(key);
      return value === undefined ? [] : [{ key, value: row.secret ? redacted : value }];
    }),
  };
}

/** Returns undefined for a disabled directory. Throws `IdentityError`. */
function checked(values: ReadonlyMap<string, string>): LdapSettings | undefined {
  const { directory, problems, contradictions } = ldapFromKeys(values);
  const wrong = [...problems, ...contradictions];
  if (wrong.length > 0) throw invalid(wrong);
  if (!values.has('server_addr')) throw invalid(['server_addr is missing: HOST:PORT of the directory']);
  return directory;
}

async function usable(directory: LdapSettings, probe: (directory: LdapSettings) => Promise<void>): Promise<void> {
  try {
    await probe(directory);
  } catch (error) {
    if (!isDirectoryError(error)) throw error;
    throw new IdentityError('unusable-provider', error.message, { cause: error });
  }
}

/** Tests the connection, the lookup account, and a search below each base of users and of groups. */
async function probeDirectory(settings: LdapSettings): Promise<void> {
  const { testLdapSignIn } = await import('../ldap/test-sign-in.ts');
  const { steps } = await testLdapSignIn(settings, undefined);
  const failed = steps.find(({ outcome }) => outcome === 'failed');
  if (failed === undefined) return;
  const address = `${settings.host}:${settings.port}`;
  throw new IdentityError(
    'directory-unavailable',
    `The directory ${address} cannot be used (${failed.step}): ${failed.message}`,
  );
}

const configurationKeys: readonly ConfigurationKey[] = ldapKeys.map(({ key, row }) => ({
  key,
  help: row.help,
  type: row.type.kind === 'text' ? 'string' : row.type.kind,
  optional: !['server_addr', 'user_dn_search_base_dn', 'user_dn_search_filter'].includes(key),
  secret: row.secret,
  variable: row.aliases.find((alias) => alias.startsWith('MINIO_')) ?? row.name,
}));

function lineOf(values: ReadonlyMap<string, string>): string {
  return `${subsystem} ${formatKeyValues(values)}`;
}

function exists(): IdentityError {
  return new IdentityError(
    'configuration-exists',
    'There is a configuration of the directory already: change it by "update", or remove it first.',
  );
}

function noneYet(): IdentityError {
  return new IdentityError('no-such-configuration', 'There is no configuration of the directory: make it by "add".');
}

/** Tests a sign-in without the password: connection, lookup account, user, groups, and policies. */
async function testLdapDirectory(
  settings: LdapSettings,
  user: string | undefined,
  rights: LdapUserPolicies,
): Promise<readonly TestStep[]> {
  // The LDAP library takes some MiB, so it is loaded only when it is needed.
  const { testLdapSignIn } = await import('../ldap/test-sign-in.ts');
  const test = await testLdapSignIn(settings, user);
  return test.user === undefined ? test.steps : [...test.steps, await policiesStep(test.user, rights)];
}

async function policiesStep(user: LdapUser, rights: LdapUserPolicies): Promise<TestStep> {
  const step = 'Policies';
  const attached = await rights(user);
  const names = attached.map(({ name }) => name);
  if (names.length === 0) {
    return {
      step,
      outcome: 'failed',
      message:
        'Nothing is attached to the DN or one of the groups, so a sign-in is refused. ' +
        'Attach a policy: coffer idp ldap policy attach ALIAS POLICY --user DN (or --group DN).',
    };
  }
  const missing = attached.filter(({ defined }) => !defined).map(({ name }) => name);
  if (missing.length === 0) return { step, outcome: 'ok', message: `${names.join(', ')}.` };
  return { step, outcome: 'unclear', message: `${names.join(', ')}; no policy is called ${missing.join(', ')}.` };
}
