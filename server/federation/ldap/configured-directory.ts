import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';
import type { LdapDirectory } from './ldap-directory.ts';
import { IdentityError } from '../../auth/identity-error.ts';

/** The directory configuration that administrators store. */
export interface StoredDirectory {
  /** Increases with every change of a configuration. */
  revision(): Promise<number | undefined>;
  /** Resolves with undefined if there is none or it is disabled. */
  read(): Promise<LdapSettings | undefined>;
}

interface ConfiguredDirectoryOptions {
  /** The directory of the environment. It overrides a stored one. */
  readonly environment?: LdapSettings | undefined;
  readonly stored: StoredDirectory;
  readonly open?: (settings: LdapSettings) => Promise<LdapDirectory>;
}

export interface ConfiguredDirectory extends LdapDirectory {
  /** Reports whether a directory is configured now. */
  isConfigured(): Promise<boolean>;
}

/**
 * Returns a directory that follows its configuration: each call uses the current one, whichever thread or server changed it. Without a
 * configuration each call rejects with the `IdentityError` no-directory.
 */
export function configuredDirectory(options: ConfiguredDirectoryOptions): ConfiguredDirectory {
  const { environment, stored, open = openLdapDirectory } = options;
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
    throw new IdentityError(
      'no-directory',
      'No directory is configured: set SVC_IDENTITY_LDAP_SERVER_ADDR, or use "mc idp ldap add".',
    );
  }

  const opened = async (settings: LdapSettings | undefined) => (settings === undefined ? undefined : open(settings));

  return {
    isConfigured: async () => (await configured()) !== undefined,
    authenticate: async (name, password) => (await current()).authenticate(name, password),
    find: async (nameOrDn) => (await current()).find(nameOrDn),
    stateOf: async (user) => (await current()).stateOf(user),
  };
}

/** Loads the LDAP library on first use, because each thread would keep some MiB of it. */
async function openLdapDirectory(settings: LdapSettings): Promise<LdapDirectory> {
  const { createLdapDirectory } = await import('./ldap-directory.ts');
  return createLdapDirectory(settings);
}
