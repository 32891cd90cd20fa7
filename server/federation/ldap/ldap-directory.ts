import { type Client, ResultCodeError } from 'ldapts';
import { semaphore } from '../../../platform/async/concurrency.ts';
import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';
import { timeoutText } from '../../../platform/text/message-text.ts';
import { firstValue, normalizeDn } from './distinguished-name.ts';
import { connected } from './ldap-connection.ts';
import { ldapErrorText, lookupRefused } from './ldap-error-text.ts';
import {
  fillFilter,
  isDisabled,
  type LdapUserState,
  stateOf,
  codeOf,
  entryAt,
  findEntry,
  nameAttributes,
  nameIn,
  groupsOf,
  normalized,
  proveBases,
} from './ldap-searches.ts';
import { type LdapUser } from './ldap-user.ts';
import { IdentityError, isDirectoryError } from '../../auth/identity-error.ts';

/** A directory. Each call asks it; calls reject with an `IdentityError`. */
export interface LdapDirectory {
  /** Returns the user with this name and password. */
  authenticate(name: string, password: string): Promise<LdapUser>;
  /** Finds a user by name or DN; resolves with undefined if there is none. */
  find(nameOrDn: string): Promise<LdapUser | undefined>;
  /** Reports whether a signed-in user still exists and is in the same groups. */
  stateOf(user: LdapUser): Promise<LdapUserState>;
}

interface LdapDirectoryOptions {
  /** Maximum number of connections. */
  readonly connections?: number;
  /** Milliseconds for a call, including the wait for a connection. */
  readonly timeoutMs?: number;
}

/** Bytes. */
const maxNameBytes = 256;

/** Result codes for a user who cannot sign in: wrong password, locked, password must be changed, not from this host. */
const refusals = new Set([19, 48, 49, 50, 53]);

export function createLdapDirectory(settings: LdapSettings, options: LdapDirectoryOptions = {}): LdapDirectory {
  const { connections = 8, timeoutMs = 10_000 } = options;
  const inTurn = semaphore(connections);

  /** Runs `work` on a connection of the lookup account, with a timeout. */
  async function asking<T>(work: (lookup: Client, ended: AbortSignal) => Promise<T>): Promise<T> {
    const ended = AbortSignal.timeout(timeoutMs);
    try {
      return await inTurn(() => {
        ended.throwIfAborted();
        return connected(settings, ended, async (client) => {
          if (settings.lookup !== undefined) await bindLookup(client, settings.lookup);
          return work(client, ended);
        });
      });
    } catch (error) {
      throw asDirectoryError(error, settings, ended.aborted ? timeoutMs : undefined);
    }
  }

  return {
    authenticate(name, password) {
      return asking(async (lookup, ended) => {
        // An empty password would be an anonymous bind, which directories accept.
        if (password === '' || !isName(name)) throw wrongCredentials();
        const found = await findEntry(lookup, settings.users, name);
        // The bind always runs, so that its time does not reveal which users exist.
        const dn = found?.dn ?? unknownUserDn(settings);
        await connected(settings, ended, (client) => bindAs(client, dn, password));
        if (found === undefined) throw wrongCredentials();
        // Some directories accept disabled users.
        if (isDisabled(found)) throw wrongCredentials();
        const known = nameIn(found, settings.users.filter, name);
        return { name: known, dn: normalized(dn), groups: await groupsOf(lookup, settings.groups, known, dn) };
      });
    },

    find(nameOrDn) {
      return asking(async (lookup) => {
        const byDn = normalizeDn(nameOrDn);
        const { filter } = settings.users;
        const found = await (byDn !== undefined
          ? entryAt(lookup, byDn, undefined, nameAttributes(filter))
          : isName(nameOrDn)
            ? findEntry(lookup, settings.users, nameOrDn)
            : undefined);
        if (found === undefined) return undefined;
        const name = nameIn(found, filter, byDn === undefined ? nameOrDn : firstValue(byDn));
        return { name, dn: normalized(found.dn), groups: await groupsOf(lookup, settings.groups, name, found.dn) };
      });
    },

    stateOf(user) {
      return asking(async (lookup) => {
        // The filter can also require that the user is enabled or in a group.
        const found = await entryAt(lookup, user.dn, fillFilter(settings.users.filter, { name: user.name }));
        if (found === undefined) await proveBases(lookup, settings.users);
        const groups = found === undefined ? [] : await groupsOf(lookup, settings.groups, user.name, found.dn);
        return stateOf(user, found, groups);
      });
    },
  };
}

/** Returns a DN below the search base that no user has. */
function unknownUserDn({ users }: LdapSettings): string {
  return `cn=nobody-whom-coffer-knows,${users.bases[0] ?? ''}`;
}

async function bindLookup(client: Client, { dn, password }: NonNullable<LdapSettings['lookup']>): Promise<void> {
  try {
    await client.bind(dn, password);
  } catch (error) {
    throw error instanceof ResultCodeError ? lookupRefused(error) : error;
  }
}

async function bindAs(client: Client, dn: string, password: string): Promise<void> {
  try {
    await client.bind(dn, password);
  } catch (error) {
    if (refusals.has(codeOf(error) ?? -1)) throw wrongCredentials(error);
    throw error;
  }
}

function isName(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= maxNameBytes && name.isWellFormed() && !name.includes('\0');
}

function wrongCredentials(cause?: unknown): IdentityError {
  return new IdentityError('sign-in-refused', 'The directory does not know this name with this password.', { cause });
}

function asDirectoryError(error: unknown, { host, port }: LdapSettings, overMs: number | undefined): unknown {
  if (isDirectoryError(error)) return error;
  const why = overMs === undefined ? ldapErrorText(error) : `it did not answer within ${timeoutText(overMs)}`;
  return new IdentityError('directory-unavailable', `The directory ${host}:${port} cannot be asked now: ${why}.`, {
    cause: error,
  });
}
