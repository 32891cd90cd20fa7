import { type Client, type Entry, ResultCodeError } from 'ldapts';
import type { LdapSearch } from '../../../platform/settings/identity-settings.ts';
import { normalizeDn } from './distinguished-name.ts';
import { fillFilter } from './ldap-filter.ts';
import { LdapProblem } from './ldap-problem.ts';
import { stateAttributes } from './ldap-person-state.ts';

/** DNs are parts of records' keys. Bytes. */
const longestDn = 1_000;
const mostGroups = 1_000;
/** Asks for no attribute: the DN comes in any case. */
const nothing = ['1.1'];

const noSuchObject = 32;
const tooMany = 4;

/** The one person of this name; undefined where there is nobody. */
export async function findEntry(
  client: Client,
  { bases, filter }: LdapSearch,
  name: string,
): Promise<Entry | undefined> {
  const found: Entry[] = [];
  for (const base of bases) {
    try {
      const filled = fillFilter(filter, { name });
      const search = { scope: 'sub' as const, filter: filled, attributes: [...stateAttributes], sizeLimit: 2 };
      const { searchEntries } = await client.search(base, search);
      found.push(...searchEntries);
    } catch (error) {
      if (codeOf(error) !== tooMany) throw error;
      throw ambiguous(name);
    }
  }
  if (new Set(found.map(({ dn }) => normalized(dn))).size > 1) throw ambiguous(name);
  return found[0];
}

export async function groupsOf(
  client: Client,
  groups: LdapSearch | undefined,
  name: string,
  dn: string,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const base of groups?.bases ?? []) {
    const filter = fillFilter(groups?.filter ?? '', { name, dn });
    for await (const page of client.searchPaginated(base, { scope: 'sub', filter, attributes: nothing, paged: true })) {
      for (const { dn: group } of page.searchEntries) found.add(normalized(group));
      if (found.size > mostGroups) throw tooManyGroups(name);
    }
  }
  return [...found].toSorted();
}

/** The entry with what tells whether it is disabled; undefined where it is not there, or the filter does not find it. */
export async function entryAt(client: Client, dn: string, filter = '(objectClass=*)'): Promise<Entry | undefined> {
  try {
    const { searchEntries } = await client.search(dn, { scope: 'base', filter, attributes: [...stateAttributes] });
    return searchEntries[0];
  } catch (error) {
    if (codeOf(error) === noSuchObject) return undefined;
    throw error;
  }
}

export function normalized(dn: string): string {
  const name = normalizeDn(dn);
  if (name !== undefined && Buffer.byteLength(name) <= longestDn) return name;
  throw new LdapProblem('unavailable', `The directory answers with a DN that cannot be taken: ${dn.slice(0, 128)}.`);
}

/** The number of LDAP's result; undefined where there was none. */
export function codeOf(error: unknown): number | undefined {
  return error instanceof ResultCodeError ? error.code : undefined;
}

function ambiguous(name: string): LdapProblem {
  const message = `The directory has several people called ${JSON.stringify(name)}; USER_DN_SEARCH_FILTER must find one.`;
  return new LdapProblem('ambiguous', message);
}

function tooManyGroups(name: string): LdapProblem {
  return new LdapProblem(
    'unavailable',
    `The directory names more than ${mostGroups} groups of ${JSON.stringify(name)}.`,
  );
}
