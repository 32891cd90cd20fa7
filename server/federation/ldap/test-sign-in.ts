import { type Client, ResultCodeError } from 'ldapts';
import type { LdapSearch, LdapSettings } from '../../../platform/settings/identity-settings.ts';
import type { SignInStep } from '../sign-in-test.ts';
import { firstValue, normalizeDn } from './distinguished-name.ts';
import { connected } from './ldap-connection.ts';
import type { LdapPerson } from './ldap-directory.ts';
import { LdapProblem } from './ldap-user.ts';
import { isDisabled, codeOf, entryAt, findEntry, groupsOf, normalized } from './ldap-searches.ts';

/** Tried where no person is named: what is asked for must work, and find nobody. */
const nobody = 'nobody-whom-coffer-knows';
const namesShown = 20;
const noSuchObject = 32;

export interface DirectoryWalk {
  readonly steps: readonly SignInStep[];
  /** Undefined where none was asked for, or they would not be let in. */
  readonly person?: LdapPerson;
}

type Told = readonly [SignInStep['outcome'], string];

/** The way of a sign-in without the password, told step by step to an administrator. What does not work is a step; it does not reject. */
export async function walkDirectory(
  settings: LdapSettings,
  nameOrDn: string | undefined,
  timeoutMs = 10_000,
): Promise<DirectoryWalk> {
  const steps: SignInStep[] = [];
  const ended = AbortSignal.timeout(timeoutMs);
  let at = '';
  const walk = async <T>(step: string, work: () => Promise<readonly [Told, T]>): Promise<T> => {
    at = step;
    const [[outcome, message], result] = await work();
    steps.push({ step, outcome, message });
    return result;
  };
  try {
    const person = await connected(settings, ended, async (client) => {
      await walk('Connection', () => reach(client, settings));
      await walk('Lookup account', () => bind(client, settings));
      const found = await walk('People', () => seek(client, settings, nameOrDn));
      return walk('Groups', () => collect(client, settings, found));
    });
    return person === undefined ? { steps } : { steps, person };
  } catch (error) {
    const message = ended.aborted ? `There is no answer in ${timeoutMs} ms.` : messageOf(error);
    return { steps: [...steps, { step: at === '' ? 'Connection' : at, outcome: 'failed', message }] };
  }
}

/** Any answer will do: directories that tell strangers nothing refuse even this. */
async function reach(client: Client, settings: LdapSettings): Promise<readonly [Told, undefined]> {
  try {
    await client.search('', { scope: 'base', filter: '(objectClass=*)', attributes: ['1.1'] });
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
  }
  return [transportOf(settings), undefined];
}

function transportOf({ host, port, transport, skipVerify, caFile }: LdapSettings): Told {
  const answers = `${host}:${port} answers`;
  if (transport === 'plain') return ['unclear', `${answers} in the clear: passwords can be read on the way.`];
  const by = transport === 'tls' ? 'by TLS' : 'by StartTLS';
  if (skipVerify) return ['unclear', `${answers} ${by}; its certificate is not looked at (tls_skip_verify).`];
  return [
    'ok',
    `${answers} ${by}, with a certificate of ${caFile === undefined ? 'the system’s authorities' : caFile}.`,
  ];
}

async function bind(client: Client, { lookup }: LdapSettings): Promise<readonly [Told, undefined]> {
  if (lookup === undefined) return [['skipped', 'None is set: people are looked up as nobody.'], undefined];
  try {
    await client.bind(lookup.dn, lookup.password);
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
    throw new LdapProblem('refused', `The directory refuses ${lookup.dn}: ${error.message}`, { cause: error });
  }
  return [['ok', `The directory lets ${lookup.dn} in.`], undefined];
}

type Found = Pick<LdapPerson, 'name' | 'dn'>;

async function seek(
  client: Client,
  { users }: LdapSettings,
  nameOrDn: string | undefined,
): Promise<readonly [Told, Found | undefined]> {
  if (nameOrDn === undefined) {
    for (const base of users.bases) await below(base, () => findEntry(client, { ...users, bases: [base] }, nobody));
    return [['ok', `${placeOf(users)} can be searched. Name a person to see more.`], undefined];
  }
  const dn = normalizeDn(nameOrDn);
  const entry = await (dn === undefined ? findEntry(client, users, nameOrDn) : entryAt(client, dn));
  if (entry === undefined) {
    const where = dn === undefined ? placeOf(users) : 'The directory';
    throw new LdapProblem('refused', `${where} knows nobody called ${JSON.stringify(nameOrDn.slice(0, 256))}.`);
  }
  const found = { name: dn === undefined ? nameOrDn : firstValue(dn), dn: normalized(entry.dn) };
  if (isDisabled(entry)) throw new LdapProblem('refused', `${found.dn} is disabled in the directory: refused.`);
  return [['ok', `${found.name} is ${found.dn}.`], found];
}

async function collect(
  client: Client,
  { groups }: LdapSettings,
  found: Found | undefined,
): Promise<readonly [Told, LdapPerson | undefined]> {
  if (groups === undefined) {
    const person = found === undefined ? undefined : { ...found, groups: [] };
    return [['skipped', 'No search for groups is set: what is attached to people counts alone.'], person];
  }
  if (found === undefined) {
    const dn = `cn=${nobody}`;
    for (const base of groups.bases) {
      await below(base, () => groupsOf(client, { ...groups, bases: [base] }, nobody, dn));
    }
    return [['ok', `${placeOf(groups)} can be searched.`], undefined];
  }
  const names = await groupsOf(client, groups, found.name, found.dn);
  const person = { ...found, groups: names };
  if (names.length === 0) return [['unclear', `${placeOf(groups)} has ${found.name} in none.`], person];
  const more = names.length > namesShown ? `; and ${names.length - namesShown} more` : '';
  return [['ok', `${names.length}: ${names.slice(0, namesShown).join('; ')}${more}.`], person];
}

async function below(base: string, search: () => Promise<unknown>): Promise<void> {
  try {
    await search();
  } catch (error) {
    if (!(error instanceof ResultCodeError)) throw error;
    const hint = codeOf(error) === noSuchObject ? ' It is not there, or the lookup account may not see it.' : '';
    throw new LdapProblem('unavailable', `${base}: ${error.message}${hint}`, { cause: error });
  }
}

function placeOf({ bases, filter }: LdapSearch): string {
  return `${bases.join('; ')} by ${filter}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
