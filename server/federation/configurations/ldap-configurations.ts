import { type LdapSettings, ldapFromKeys, ldapKeys, ldapKeysOf } from '../../../platform/settings/identity-settings.ts';
import { formatKeyValues } from '../../../protocol/settings/key-values.ts';
import { createLdapDirectoryLater, type StoredDirectory } from '../ldap/configured-directory.ts';
import { type RightsOfPerson, LdapProblem } from '../ldap/ldap-user.ts';
import {
  ConfigurationError,
  redacted,
  type ConfigurationDetails,
  type ConfigurationKey,
  type IdentityProviderConfigurations,
  invalid,
  mergedKeys,
  type TestStep,
} from './provider-configurations.ts';
import type { StoredConfiguration, StoredConfigurations } from './stored-configurations.ts';
import type { LdapPerson } from '../ldap/ldap-directory.ts';

const subsystem = 'identity_ldap';
/** There is one, without a name of its own. */
const onlyName = '_';
const table = { keys: ldapKeys, whose: 'the directory' };

interface LdapConfigurationsOptions {
  readonly stored: StoredConfigurations;
  /** That of the environment, which cannot be changed here. */
  readonly environment?: LdapSettings | undefined;
  /** For its test. */
  readonly rights: RightsOfPerson;
  /** Rejects with `LdapProblem` where the directory cannot be used. */
  readonly probe?: (directory: LdapSettings) => Promise<void>;
}

/** The directory as administrators set it up, change and remove it. What is saved was seen to work: connection, lookup account, search. */
export function ldapConfigurations(options: LdapConfigurationsOptions): IdentityProviderConfigurations {
  const { stored, environment } = options;
  const probe = options.probe ?? probeDirectory;

  function editable(name: string): void {
    if (name !== onlyName) {
      const given = JSON.stringify(name.slice(0, 64));
      throw invalid([`there is one directory, which has no name: leave ${given} out`]);
    }
    if (environment === undefined) return;
    throw new ConfigurationError(
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
    description: 'the directory (LDAP) whose people log in by name and password',
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
      // Asked before the change: a directory that takes its time holds nobody else up.
      const { directory } = check(await stored.list(subsystem));
      if (directory !== undefined) await usable(directory, probe);
      await stored.change(subsystem, (known) => {
        const { values } = check(known);
        return { put: [{ name: onlyName, values }], text: lineOf(values) };
      });
      return { applied: true };
    },

    async test(name, given, person) {
      // Files of the environment are read already.
      if (environment !== undefined) return testLdapDirectory(environment, person, options.rights);
      editable(name);
      const [before] = await stored.list(subsystem);
      if (before === undefined && given === undefined) throw noneYet();
      const values = mergedKeys(table, before?.values, given ?? new Map(), { replace: given !== undefined });
      // One that is switched off is tried before it is switched on.
      const directory = checked(new Map([...values, ['enable', 'on']]));
      if (directory === undefined) throw noneYet();
      return testLdapDirectory(directory, person, options.rights);
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

/** What the access room makes of it. One that a newer server saved and this one cannot read is none. */
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

/** Undefined where it is switched off. Throws `ConfigurationError`. */
function checked(values: ReadonlyMap<string, string>): LdapSettings | undefined {
  const { directory, problems } = ldapFromKeys(values);
  if (problems.length > 0) throw invalid(problems);
  if (!values.has('server_addr')) throw invalid(['server_addr is missing: HOST:PORT of the directory']);
  return directory;
}

async function usable(directory: LdapSettings, probe: (directory: LdapSettings) => Promise<void>): Promise<void> {
  try {
    await probe(directory);
  } catch (error) {
    if (!(error instanceof LdapProblem)) throw error;
    throw new ConfigurationError('unusable', error.message, { cause: error });
  }
}

/** Looks for somebody who is not there: that takes the connection, the lookup account, the filter and the place where people are. */
async function probeDirectory(settings: LdapSettings): Promise<void> {
  await (await createLdapDirectoryLater(settings)).find('nobody-whom-coffer-knows');
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

function exists(): ConfigurationError {
  return new ConfigurationError(
    'exists',
    'There is a configuration of the directory already: change it by "update", or remove it first.',
  );
}

function noneYet(): ConfigurationError {
  return new ConfigurationError('no-such-name', 'There is no configuration of the directory: make it by "add".');
}

/** Walks the way of a sign-in without a password: connection, lookup account, the person, their groups, and what they may do here. */
async function testLdapDirectory(
  settings: LdapSettings,
  person: string | undefined,
  rights: RightsOfPerson,
): Promise<readonly TestStep[]> {
  // Its library is some MiB, which nobody needs who has no directory.
  const { walkDirectory } = await import('../ldap/test-sign-in.ts');
  const walk = await walkDirectory(settings, person);
  return walk.person === undefined ? walk.steps : [...walk.steps, await policiesStep(walk.person, rights)];
}

async function policiesStep(person: LdapPerson, rights: RightsOfPerson): Promise<TestStep> {
  const step = 'Policies';
  const attached = await rights(person);
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
