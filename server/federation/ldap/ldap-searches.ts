import { type Entry, type Client, ResultCodeError } from 'ldapts';
import type { LdapSearch } from '../../../platform/settings/identity-settings.ts';
import { normalizeDn } from './distinguished-name.ts';
import { LdapProblem } from './ldap-user.ts';

/** Who a search is for. */
interface Sought {
  readonly name: string;
  /** Known once they were found. */
  readonly dn?: string;
}

/** The filter of a setting with `%s` as the name and `%d` as the DN: as text of the value, which can end nothing and be wild nowhere. */
export function fillFilter(template: string, { name, dn }: Sought): string {
  // A function: in a replacement text `$&` would mean something.
  return template.replaceAll(/%[sd]/g, (mark) => escapeFilterValue(mark === '%s' ? name : (dn ?? '')));
}

/** @see https://www.rfc-editor.org/rfc/rfc4515#section-3 */
function escapeFilterValue(value: string): string {
  // oxlint-disable-next-line no-control-regex -- NUL is among what is escaped
  return value.replaceAll(/[*()\\\u0000]/g, (one) => `\\${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Whether somebody who was let in may stay; `why` is for the log. */
export type LdapPersonState =
  { readonly kind: 'present' } | { readonly kind: 'gone'; readonly why: 'removed' | 'disabled' | 'left-group' };

/** By these directories say that an account is disabled: Active Directory, OpenLDAP's password policy, 389 Directory Server, eDirectory. */
const stateAttributes = ['userAccountControl', 'pwdAccountLockedTime', 'nsAccountLock', 'loginDisabled'];

/** ACCOUNTDISABLE of userAccountControl. */
const accountDisable = 2;
/** Locked by an administrator, not by wrong passwords, which must not cut anybody off. */
const lockedForGood = '000001010000Z';

/**
 * What the directory's entry means for credentials that exist: it must be found by the filter, not be disabled, and be in all the groups
 * that the credentials were given for.
 */
export function stateOf(
  person: { readonly groups: readonly string[] },
  entry: Entry | undefined,
  groups: readonly string[],
): LdapPersonState {
  if (entry === undefined) return { kind: 'gone', why: 'removed' };
  if (isDisabled(entry)) return { kind: 'gone', why: 'disabled' };
  return person.groups.every((group) => groups.includes(group))
    ? { kind: 'present' }
    : { kind: 'gone', why: 'left-group' };
}

/** Whether an entry with its `stateAttributes` says so. */
export function isDisabled(entry: Entry): boolean {
  const value = (name: string) => [entry[name] ?? []].flat().map(String)[0]?.toLowerCase();
  return (
    (Number(value('userAccountControl') ?? 0) & accountDisable) !== 0 ||
    value('pwdAccountLockedTime')?.toUpperCase() === lockedForGood ||
    value('nsAccountLock') === 'true' ||
    value('loginDisabled') === 'true'
  );
}

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
