import { type Client, ResultCodeError } from 'ldapts';
import type { LdapSearch, LdapSettings } from '../../../platform/settings/identity-settings.ts';
import { timeoutText } from '../../../platform/text/message-text.ts';
import type { SignInStep } from '../sign-in-test.ts';
import { firstValue, normalizeDn } from './distinguished-name.ts';
import { connected } from './ldap-connection.ts';
import type { LdapUser } from './ldap-user.ts';
import { ldapErrorText, lookupRefused } from './ldap-error-text.ts';
import { IdentityError, isDirectoryError } from '../../auth/identity-error.ts';
import { isDisabled, entryAt, findEntry, groupsOf, normalized } from './ldap-searches.ts';

/** The name to search if the caller names no user. The search must work and find nothing. */
const unknownName = 'nobody-whom-coffer-knows';
const namesShown = 20;

interface LdapSignInTest {
  readonly steps: readonly SignInStep[];
  /** Undefined if the caller named no user, or the user could not sign in. */
  readonly user?: LdapUser;
}

type StepResult = readonly [SignInStep['outcome'], string];

/** Tests the steps of a sign-in without the password and reports each step. A failure is a step; the function does not reject. */
export async function testLdapSignIn(
  settings: LdapSettings,
  nameOrDn: string | undefined,
  timeoutMs = 10_000,
): Promise<LdapSignInTest> {
  const steps: SignInStep[] = [];
  const ended = AbortSignal.timeout(timeoutMs);
  let at = '';
  const step = async <T>(name: string, work: () => Promise<readonly [StepResult, T]>): Promise<T> => {
    at = name;
    const [[outcome, message], result] = await work();
    steps.push({ step: name, outcome, message });
    return result;
  };
  try {
    const user = await connected(settings, ended, async (client) => {
      await step('Connection', () => checkConnection(client, settings));
      await step('Lookup account', () => bindLookupAccount(client, settings));
      const found = await step('User', () => findUser(client, settings, nameOrDn));
      return step('Groups', () => listGroups(client, settings, found));
    });
    return user === undefined ? { steps } : { steps, user };
  } catch (error) {
    const message = ended.aborted ? `The directory did not answer within ${timeoutText(timeoutMs)}.` : messageOf(error);
    return { steps: [...steps, { step: at === '' ? 'Connection' : at, outcome: 'failed', message }] };
  }
}

/** Any answer passes: some directories refuse even this search to anonymous clients. */
async function checkConnection(client: Client, settings: LdapSettings): Promise<readonly [StepResult, undefined]> {
  try {
    await client.search('', { scope: 'base', filter: '(objectClass=*)', attributes: ['1.1'] });
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
  }
  return [transportOf(settings), undefined];
}

function transportOf({ host, port, transport, skipVerify, caFile }: LdapSettings): StepResult {
  const answers = `${host}:${port} answers`;
  if (transport === 'plain') return ['unclear', `${answers} in the clear: passwords can be read on the way.`];
  const by = transport === 'tls' ? 'by TLS' : 'by StartTLS';
  if (skipVerify) return ['unclear', `${answers} ${by}; its certificate is not looked at (tls_skip_verify).`];
  return [
    'ok',
    `${answers} ${by}, with a certificate of ${caFile === undefined ? 'the system’s authorities' : caFile}.`,
  ];
}

async function bindLookupAccount(client: Client, { lookup }: LdapSettings): Promise<readonly [StepResult, undefined]> {
  if (lookup === undefined) return [['skipped', 'None is set: users are looked up anonymously.'], undefined];
  try {
    await client.bind(lookup.dn, lookup.password);
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
    throw lookupRefused(error, lookup.dn);
  }
  return [['ok', `The directory lets ${lookup.dn} in.`], undefined];
}

type FoundUser = Pick<LdapUser, 'name' | 'dn'>;

async function findUser(
  client: Client,
  { users }: LdapSettings,
  nameOrDn: string | undefined,
): Promise<readonly [StepResult, FoundUser | undefined]> {
  if (nameOrDn === undefined) {
    for (const base of users.bases)
      await searchBelow(base, () => findEntry(client, { ...users, bases: [base] }, unknownName));
    return [['ok', `${describeSearch(users)} can be searched. Name a user to test more.`], undefined];
  }
  const dn = normalizeDn(nameOrDn);
  const entry = await (dn === undefined ? findEntry(client, users, nameOrDn) : entryAt(client, dn));
  if (entry === undefined) {
    const where = dn === undefined ? describeSearch(users) : 'The directory';
    throw new IdentityError('sign-in-refused', `${where} has no user ${JSON.stringify(nameOrDn.slice(0, 256))}.`);
  }
  const found = { name: dn === undefined ? nameOrDn : firstValue(dn), dn: normalized(entry.dn) };
  if (isDisabled(entry))
    throw new IdentityError('sign-in-refused', `${found.dn} is disabled in the directory: refused.`);
  return [['ok', `${found.name} is ${found.dn}.`], found];
}

async function listGroups(
  client: Client,
  { groups }: LdapSettings,
  found: FoundUser | undefined,
): Promise<readonly [StepResult, LdapUser | undefined]> {
  if (groups === undefined) {
    const user = found === undefined ? undefined : { ...found, groups: [] };
    return [['skipped', 'No group search is set: only policies that are attached to users count.'], user];
  }
  if (found === undefined) {
    const dn = `cn=${unknownName}`;
    for (const base of groups.bases) {
      await searchBelow(base, () => groupsOf(client, { ...groups, bases: [base] }, unknownName, dn));
    }
    return [['ok', `${describeSearch(groups)} can be searched.`], undefined];
  }
  const names = await groupsOf(client, groups, found.name, found.dn);
  const user = { ...found, groups: names };
  if (names.length === 0) return [['unclear', `${describeSearch(groups)} has ${found.name} in none.`], user];
  const more = names.length > namesShown ? `; and ${names.length - namesShown} more` : '';
  return [['ok', `${names.length}: ${names.slice(0, namesShown).join('; ')}${more}.`], user];
}

async function searchBelow(base: string, search: () => Promise<unknown>): Promise<void> {
  try {
    await search();
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
    throw new IdentityError('directory-unavailable', `${base}: ${ldapErrorText(error)}.`, { cause: error });
  }
}

function describeSearch({ bases, filter }: LdapSearch): string {
  return `${bases.join('; ')} by ${filter}`;
}

function messageOf(error: unknown): string {
  return isDirectoryError(error) ? error.message : `${ldapErrorText(error)}.`;
}
