import type { Entry } from 'ldapts';

/** Whether somebody who was let in may stay; `why` is for the log. */
export type LdapPersonState =
  { readonly kind: 'present' } | { readonly kind: 'gone'; readonly why: 'removed' | 'disabled' | 'left-group' };

/** By these directories say that an account is disabled: Active Directory, OpenLDAP's password policy, 389 Directory Server, eDirectory. */
export const stateAttributes = ['userAccountControl', 'pwdAccountLockedTime', 'nsAccountLock', 'loginDisabled'];

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
