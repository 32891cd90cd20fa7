import { type Entry, type Client, ResultCodeError } from 'ldapts';
import type { LdapSearch } from '../../../platform/settings/identity-settings.ts';
import { normalizeDn } from './distinguished-name.ts';
import { foldName } from './ldap-user.ts';
import { IdentityError } from '../../auth/identity-error.ts';

/** The user that a search is for. */
interface SearchedUser {
  readonly name: string;
  /** Present after the user was found. */
  readonly dn?: string;
}

/**
 * Fills a filter of the settings: `%s` is the name and `%d` the DN. Values are escaped, so that they cannot end the filter or act as
 * wildcards.
 */
export function fillFilter(template: string, { name, dn }: SearchedUser): string {
  // A replacement function, because `$&` in a replacement text has a meaning.
  return template.replaceAll(/%[sd]/g, (mark) => escapeFilterValue(mark === '%s' ? name : (dn ?? '')));
}

/** @see https://www.rfc-editor.org/rfc/rfc4515#section-3 */
function escapeFilterValue(value: string): string {
  // oxlint-disable-next-line no-control-regex -- NUL is among what is escaped
  return value.replaceAll(/[*()\\\u0000]/g, (one) => `\\${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Matches a comparison with the name, and what precedes and follows it: `(userPrincipalName=%s@example.com)`. */
const comparison = /\(\s*([A-Za-z][A-Za-z0-9.;-]*)\s*=([^()%*]*)%s([^()%*]*)\)/g;

/** Returns the attributes that a filter compares with the name. */
export function nameAttributes(filter: string): string[] {
  return [...filter.matchAll(comparison)].map(([, attribute = '']) => attribute);
}

/**
 * Returns the name of a user as the entry has it. The directory finds `ANN` for `ann`, and policies compare `ldap:username` exactly: a user
 * must not choose what they see. Returns `typed` if no attribute has the name.
 */
export function nameIn(entry: Entry, filter: string, typed: string): string {
  for (const [, attribute = '', before = '', after = ''] of filter.matchAll(comparison)) {
    const field = Object.keys(entry).find((name) => name.toLowerCase() === attribute.toLowerCase());
    const values = field === undefined ? [] : [entry[field] ?? []].flat().map(String);
    const wanted = foldName(`${before}${typed}${after}`);
    const found = values.find((value) => foldName(value) === wanted && value.length > before.length + after.length);
    if (found !== undefined) return found.slice(before.length, found.length - after.length);
  }
  return typed;
}

/** The status of a signed-in user; `why` is for the log. */
export type LdapUserState =
  { readonly kind: 'present' } | { readonly kind: 'gone'; readonly why: 'removed' | 'disabled' | 'left-group' };

/**
 * The attributes by which directories mark disabled accounts: Active Directory, OpenLDAP's password policy, 389 Directory Server,
 * eDirectory.
 */
const stateAttributes = ['userAccountControl', 'pwdAccountLockedTime', 'nsAccountLock', 'loginDisabled'];

/** The flag ACCOUNTDISABLE of userAccountControl. */
const accountDisable = 2;
/** An administrator locked the account. A lock after wrong passwords has another value, and it must not revoke access. */
const lockedForGood = '000001010000Z';

/**
 * Derives the status of existing credentials from the entry: the filter must find it, it must be enabled, and it must be in all groups that
 * the credentials were made for.
 */
export function stateOf(
  user: { readonly groups: readonly string[] },
  entry: Entry | undefined,
  groups: readonly string[],
): LdapUserState {
  if (entry === undefined) return { kind: 'gone', why: 'removed' };
  if (isDisabled(entry)) return { kind: 'gone', why: 'disabled' };
  return user.groups.every((group) => groups.includes(group))
    ? { kind: 'present' }
    : { kind: 'gone', why: 'left-group' };
}

/** Reports whether the `stateAttributes` of an entry mark it as disabled. */
export function isDisabled(entry: Entry): boolean {
  const value = (name: string) => [entry[name] ?? []].flat().map(String)[0]?.toLowerCase();
  return (
    (Number(value('userAccountControl') ?? 0) & accountDisable) !== 0 ||
    value('pwdAccountLockedTime')?.toUpperCase() === lockedForGood ||
    value('nsAccountLock') === 'true' ||
    value('loginDisabled') === 'true'
  );
}

/** Bytes. DNs are parts of record keys. */
const maxDnBytes = 1_000;
const maxGroups = 1_000;
/** Requests no attribute; the answer has the DN anyway. */
const nothing = ['1.1'];

const noSuchObject = 32;
const tooMany = 4;

/** Finds the user of this name; resolves with undefined if there is none. */
export async function findEntry(
  client: Client,
  { bases, filter }: LdapSearch,
  name: string,
): Promise<Entry | undefined> {
  const found: Entry[] = [];
  for (const base of bases) {
    try {
      const filled = fillFilter(filter, { name });
      const attributes = [...stateAttributes, ...nameAttributes(filter)];
      const search = { scope: 'sub' as const, filter: filled, attributes, sizeLimit: 2 };
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
      if (found.size > maxGroups) throw tooManyGroups(name);
    }
  }
  return [...found].toSorted();
}

/** Reads the entry with its `stateAttributes` and `more`; resolves with undefined if it does not exist or does not match the filter. */
export async function entryAt(
  client: Client,
  dn: string,
  filter = '(objectClass=*)',
  more: readonly string[] = [],
): Promise<Entry | undefined> {
  try {
    const attributes = [...stateAttributes, ...more];
    const { searchEntries } = await client.search(dn, { scope: 'base', filter, attributes });
    return searchEntries[0];
  } catch (error) {
    if (codeOf(error) === noSuchObject) return undefined;
    throw error;
  }
}

/**
 * Proves that the directory has the places in which users are searched. A directory that was restored empty, or a replica that lacks them,
 * answers for every user as if the user were removed.
 *
 * @throws IdentityError directory-unavailable
 */
export async function proveBases(client: Pick<Client, 'search'>, { bases }: Pick<LdapSearch, 'bases'>): Promise<void> {
  for (const base of bases) {
    const { searchEntries } = await client
      .search(base, { scope: 'base', filter: '(objectClass=*)', attributes: nothing })
      .catch((error: unknown) => {
        if (codeOf(error) === noSuchObject) return { searchEntries: [] };
        throw error;
      });
    if (searchEntries.length > 0) continue;
    throw new IdentityError(
      'directory-unavailable',
      `The directory does not show the base ${base}, so that no user counts as removed: see whether it lost its data, or whether the lookup ` +
        'account may read the base.',
    );
  }
}

export function normalized(dn: string): string {
  const name = normalizeDn(dn);
  if (name !== undefined && Buffer.byteLength(name) <= maxDnBytes) return name;
  throw new IdentityError(
    'directory-unavailable',
    `The directory answers with a DN that cannot be taken: ${dn.slice(0, 128)}.`,
  );
}

/** Returns the LDAP result code; undefined for other errors. */
export function codeOf(error: unknown): number | undefined {
  return error instanceof ResultCodeError ? error.code : undefined;
}

function ambiguous(name: string): IdentityError {
  const message = `The directory has several users called ${JSON.stringify(name)}; USER_DN_SEARCH_FILTER must find one.`;
  return new IdentityError('ambiguous-user', message);
}

function tooManyGroups(name: string): IdentityError {
  return new IdentityError(
    'directory-unavailable',
    `The directory names more than ${maxGroups} groups of ${JSON.stringify(name)}.`,
  );
}
