import type { Client } from 'ldapts';
import { limitedTurns } from '../../../platform/concurrency.ts';
import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';
import { firstValue, normalizeDn } from './distinguished-name.ts';
import { connected } from './ldap-connection.ts';
import {
  fillFilter,
  isDisabled,
  type LdapPersonState,
  stateOf,
  codeOf,
  entryAt,
  findEntry,
  groupsOf,
  normalized,
} from './ldap-searches.ts';
import { LdapProblem } from './ldap-user.ts';

/** Somebody whom the directory knows. */
export interface LdapPerson {
  /** As they call themselves. */
  readonly name: string;
  /** Normalized, as policies are attached to it. */
  readonly dn: string;
  /** DNs, normalized. */
  readonly groups: readonly string[];
}

/** Asks the directory anew each time. Rejects with an `LdapProblem`. */
export interface LdapDirectory {
  /** Who has this name and this password. */
  authenticate(name: string, password: string): Promise<LdapPerson>;
  /** By name, or by DN; undefined where there is nobody. */
  find(nameOrDn: string): Promise<LdapPerson | undefined>;
  /** Whether a person who was let in would be found still, and has the groups. */
  stateOf(person: LdapPerson): Promise<LdapPersonState>;
}

export interface LdapDirectoryOptions {
  /** Connections at a time. */
  readonly connections?: number;
  /** For the whole of a question, waiting for its turn included. Milliseconds. */
  readonly timeoutMs?: number;
}

/** Bytes. */
const longestName = 256;

/** What directories answer about a person who may not come in: wrong password, locked, must be changed, not from here. */
const refusals = new Set([19, 48, 49, 50, 53]);

export function createLdapDirectory(settings: LdapSettings, options: LdapDirectoryOptions = {}): LdapDirectory {
  const { connections = 8, timeoutMs = 10_000 } = options;
  const inTurn = limitedTurns(connections);

  /** Does work on a connection that looks up; whatever happens it is over in time. */
  async function asking<T>(work: (lookup: Client, ended: AbortSignal) => Promise<T>): Promise<T> {
    const ended = AbortSignal.timeout(timeoutMs);
    try {
      return await inTurn(() => {
        ended.throwIfAborted();
        return connected(settings, ended, async (client) => {
          if (settings.lookup !== undefined) await client.bind(settings.lookup.dn, settings.lookup.password);
          return work(client, ended);
        });
      });
    } catch (error) {
      throw asProblem(error, settings, ended.aborted ? timeoutMs : undefined);
    }
  }

  return {
    authenticate(name, password) {
      return asking(async (lookup, ended) => {
        // A name with an empty password is nobody, whom directories let in.
        if (password === '' || !isName(name)) throw wrong();
        const found = await findEntry(lookup, settings.users, name);
        // Asked in every case, so that time does not tell who is in the directory.
        const dn = found?.dn ?? nobodyAmong(settings);
        await connected(settings, ended, (client) => bindAs(client, dn, password));
        if (found === undefined) throw wrong();
        // Not every directory refuses those whom it calls disabled.
        if (isDisabled(found)) throw wrong();
        return { name, dn: normalized(dn), groups: await groupsOf(lookup, settings.groups, name, dn) };
      });
    },

    find(nameOrDn) {
      return asking(async (lookup) => {
        const byDn = normalizeDn(nameOrDn);
        const found = await (byDn !== undefined
          ? entryAt(lookup, byDn)
          : isName(nameOrDn)
            ? findEntry(lookup, settings.users, nameOrDn)
            : undefined);
        if (found === undefined) return undefined;
        const name = byDn === undefined ? nameOrDn : firstValue(byDn);
        return { name, dn: normalized(found.dn), groups: await groupsOf(lookup, settings.groups, name, found.dn) };
      });
    },

    stateOf(person) {
      return asking(async (lookup) => {
        // The filter may say more than who somebody is: that they are not disabled, or in a group of those who may come in.
        const found = await entryAt(lookup, person.dn, fillFilter(settings.users.filter, { name: person.name }));
        const groups = found === undefined ? [] : await groupsOf(lookup, settings.groups, person.name, found.dn);
        return stateOf(person, found, groups);
      });
    },
  };
}

/** A DN below the people that nobody has. */
function nobodyAmong({ users }: LdapSettings): string {
  return `cn=nobody-whom-coffer-knows,${users.bases[0] ?? ''}`;
}

async function bindAs(client: Client, dn: string, password: string): Promise<void> {
  try {
    await client.bind(dn, password);
  } catch (error) {
    if (refusals.has(codeOf(error) ?? -1)) throw wrong(error);
    throw error;
  }
}

function isName(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= longestName && name.isWellFormed() && !name.includes('\0');
}

function wrong(cause?: unknown): LdapProblem {
  return new LdapProblem('refused', 'The directory does not know this name with this password.', { cause });
}

function asProblem(error: unknown, { host, port }: LdapSettings, overMs: number | undefined): unknown {
  if (error instanceof LdapProblem) return error;
  const why =
    overMs === undefined ? (error instanceof Error ? error.message : String(error)) : `no answer in ${overMs} ms`;
  return new LdapProblem('unavailable', `The directory ${host}:${port} cannot be asked now: ${why}`, { cause: error });
}
