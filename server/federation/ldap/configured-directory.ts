import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';
import type { LdapDirectory } from './ldap-directory.ts';
import { LdapProblem } from './ldap-user.ts';

/** What administrators stored. */
export interface StoredDirectory {
  /** Changes with every change of any configuration. */
  revision(): Promise<number | undefined>;
  /** Undefined where there is none, or it is switched off. */
  read(): Promise<LdapSettings | undefined>;
}

interface ConfiguredDirectoryOptions {
  /** From the environment: it counts alone. */
  readonly environment?: LdapSettings | undefined;
  readonly stored: StoredDirectory;
  readonly open?: (settings: LdapSettings) => Promise<LdapDirectory>;
}

export interface ConfiguredDirectory extends LdapDirectory {
  /** Whether there is one to ask now. */
  isConfigured(): Promise<boolean>;
}

/**
 * The directory as it is configured at each question: a change by any thread or server counts from the next one on. Where none is, each
 * question rejects with `LdapProblem` not-configured.
 */
export function configuredDirectory(options: ConfiguredDirectoryOptions): ConfiguredDirectory {
  const { environment, stored, open = createLdapDirectoryLater } = options;
  let known:
    { readonly revision: number | undefined; readonly directory: Promise<LdapDirectory | undefined> } | undefined;

  async function configured(): Promise<LdapDirectory | undefined> {
    const revision = environment === undefined ? await stored.revision() : undefined;
    if (known === undefined || known.revision !== revision) {
      const directory = opened(environment ?? (await stored.read()));
      known = { revision, directory };
    }
    return known.directory;
  }

  async function current(): Promise<LdapDirectory> {
    const directory = await configured();
    if (directory !== undefined) return directory;
    throw new LdapProblem(
      'not-configured',
      'No directory is configured: set SVC_IDENTITY_LDAP_SERVER_ADDR, or use "mc idp ldap add".',
    );
  }

  const opened = async (settings: LdapSettings | undefined) => (settings === undefined ? undefined : open(settings));

  return {
    isConfigured: async () => (await configured()) !== undefined,
    authenticate: async (name, password) => (await current()).authenticate(name, password),
    find: async (nameOrDn) => (await current()).find(nameOrDn),
    stateOf: async (person) => (await current()).stateOf(person),
  };
}

/** Its library is not loaded where nothing is asked of a directory: each thread would keep some MiB of it. */
export async function createLdapDirectoryLater(settings: LdapSettings): Promise<LdapDirectory> {
  const { createLdapDirectory } = await import('./ldap-directory.ts');
  return createLdapDirectory(settings);
}
