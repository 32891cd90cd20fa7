import { OpenIdProblem, IdentityProblem } from '../../platform/openid/errors.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { FederatedSubject, Subject } from '../auth/identities/subject.ts';
import type { CutOffs, CheckTally } from './user-status-records.ts';
import type { OpenIdProviders } from './openid-providers.ts';
import {
  checkedPeople,
  type CheckedPerson,
  type CheckablePerson,
  checkablePerson,
  type CheckedState,
  questionOf,
} from './external-users.ts';
import type { LdapDirectory } from './ldap/ldap-directory.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';

/**
 * Whether people who have credentials still exist, by the admin interface of their provider or by their directory: when they get
 * credentials, from time to time, and when an administrator asks. Who is disabled or gone loses their temporary credentials, and their
 * service accounts are disabled, at once. Who left a group of the directory loses those that were given for it.
 */
export interface PersonCheck {
  /**
   * Before credentials are made for somebody. Rejects with `IdentityProblem` PersonDisabled, or with `OpenIdProblem` where the provider
   * cannot tell and the setting says to refuse. Does nothing for people whose provider is not asked.
   */
  admit(subject: Subject): Promise<void>;
  /** After they were made: rejects where somebody was cut off meanwhile, whom `admit` had still seen. */
  confirm(subject: Subject): Promise<void>;
  /** Asks about everyone who has something, or about those that `who` names by parent, subject or display name. */
  run(who?: string, signal?: AbortSignal): Promise<CheckReport>;
}

interface CheckReport {
  readonly checked: number;
  readonly active: number;
  readonly cutOff: readonly CutOffPerson[];
  /** People about whom nothing is known now, by what hinders it. */
  readonly unreachable: readonly { readonly provider: string; readonly people: number; readonly reason: string }[];
}

type Loss = Exclude<CheckedState['kind'], 'active'>;

interface CutOffPerson {
  readonly provider: string;
  readonly name: string;
  readonly parent: string;
  readonly reason: Loss;
  readonly temporaryCredentials: number;
  /** Access keys. */
  readonly serviceAccounts: readonly string[];
}

interface PersonCheckOptions {
  readonly providers: Pick<OpenIdProviders, 'list' | 'byId' | 'started'>;
  /** Absent where none is configured. */
  readonly directory?: Pick<LdapDirectory, 'stateOf'> | undefined;
  readonly temporary: TemporaryCredentialsStore;
  readonly identities: Pick<Identities, 'serviceAccounts' | 'updateServiceAccount'>;
  readonly cutOffs: CutOffs;
  readonly tally: CheckTally;
  readonly unreachable: 'keep' | 'refuse';
  readonly log: PersonCheckLog;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

interface PersonCheckLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** A person who gets credentials often is asked about so often at most. Milliseconds. */
const rememberedMs = 5_000;
const mostRemembered = 5_000;
/** People that are asked about at a time: a provider is not to notice. */
const atOnce = 4;

export function createPersonCheck(options: PersonCheckOptions): PersonCheck {
  const { providers, cutOffs, tally, log } = options;
  const now = options.now ?? (() => performance.now());
  const remembered = new Map<string, { readonly at: number; readonly state: Promise<CheckedState> }>();

  function recent(person: CheckablePerson): Promise<CheckedState> {
    const known = remembered.get(person.question);
    if (known !== undefined && now() - known.at < rememberedMs) return known.state;
    return fresh(person);
  }

  function fresh({ question, ask }: CheckablePerson): Promise<CheckedState> {
    const state = ask();
    // Failures too: a provider that hangs is not asked again by each of many requests. But not that somebody is disabled: that is the
    // mark's to say, which another thread may have lifted since.
    const forget = ({ kind }: CheckedState) => kind !== 'active' && remembered.delete(question);
    state.then(forget, () => undefined);
    remembered.delete(question);
    for (const oldest of remembered.keys()) {
      if (remembered.size < mostRemembered) break;
      remembered.delete(oldest);
    }
    remembered.set(question, { at: now(), state });
    return state;
  }

  async function cutOff({ provider, subject }: CheckablePerson, reason: Loss): Promise<CutOffPerson> {
    const { parent, displayName } = subject;
    const alone = reason === 'left-group' ? questionOf(subject) : undefined;
    // First the mark, then what there is: credentials that are being made see the one or are among the other.
    if (alone === undefined) await cutOffs.mark(parent);
    const temporaryCredentials =
      alone === undefined ? await options.temporary.revokeAllOf(parent) : await revokeThose(parent, alone);
    const serviceAccounts: string[] = [];
    for await (const { accessKey, status, subject: owner } of options.identities.serviceAccounts(parent)) {
      if (status === 'disabled' || (alone !== undefined && !isThat(owner, alone))) continue;
      await options.identities.updateServiceAccount(accessKey, { status: 'disabled' });
      serviceAccounts.push(accessKey);
    }
    const lost = { provider, name: displayName, parent, reason, temporaryCredentials, serviceAccounts };
    if (temporaryCredentials > 0 || serviceAccounts.length > 0) {
      tally.add({ cutOff: 1 });
      log.warn(
        { provider, person: displayName, parent, temporaryCredentials, serviceAccounts },
        `${displayName} ${whatIs(reason)} at the provider ${provider}: access was ended`,
      );
    }
    return lost;
  }

  /** Of somebody's temporary credentials those that were given for the same groups. */
  async function revokeThose(parent: string, question: string): Promise<number> {
    let count = 0;
    for await (const { accessKey, principal } of options.temporary.ofOwner(parent)) {
      if (!isThat(principal.subject, question)) continue;
      await options.temporary.revoke(accessKey);
      count += 1;
    }
    return count;
  }

  return {
    async admit(asked) {
      const person = checkablePerson(options, asked);
      if (person === undefined) return;
      const { provider, subject } = person;
      const wasCutOff = await cutOffs.has(subject.parent);
      let state: CheckedState;
      try {
        state = await (wasCutOff ? fresh(person) : recent(person));
      } catch (error) {
        if (!(error instanceof OpenIdProblem)) throw error;
        tally.add({ unreachable: 1 });
        const fields = { provider, code: error.code };
        const whatFollows =
          options.unreachable === 'keep' && !wasCutOff ? 'gets credentials all the same' : 'gets none';
        log.warn(
          fields,
          `whether ${subject.displayName} still exists cannot be told, who ${whatFollows}: ${error.message}`,
        );
        // Who was disabled when last heard of stays out until the provider says otherwise.
        if (options.unreachable === 'refuse' || wasCutOff) throw error;
        return;
      }
      if (state.kind !== 'active') {
        await cutOff(person, state.kind);
        throw disabled(subject, state.kind);
      }
      if (wasCutOff) await cutOffs.lift(subject.parent);
    },

    async confirm(asked) {
      const { subject } = checkablePerson(options, asked) ?? {};
      if (subject !== undefined && (await cutOffs.has(subject.parent))) throw disabled(subject, 'disabled');
    },

    async run(who, signal) {
      await providers.started;
      const report = { checked: 0, active: 0, cutOff: [] as CutOffPerson[] };
      const unreachable = new Map<string, { provider: string; people: number; reason: string }>();
      const one = async ({ subject }: CheckedPerson) => {
        const person = checkablePerson(options, subject);
        if (person === undefined) return;
        report.checked += 1;
        try {
          const state = await fresh(person);
          if (state.kind === 'active') report.active += 1;
          else report.cutOff.push(await cutOff(person, state.kind));
        } catch (error) {
          if (!(error instanceof OpenIdProblem)) throw error;
          const { provider } = person;
          const key = `${provider} ${error.message}`;
          const known = unreachable.get(key) ?? { provider, people: 0, reason: error.message };
          unreachable.set(key, { ...known, people: known.people + 1 });
        }
      };
      await inParallel(checkedPeople(options, who), one, signal);
      const hindered = [...unreachable.values()];
      for (const { provider, people, reason } of hindered) {
        tally.add({ unreachable: people });
        log.warn({ provider, people }, `whether ${people} people of ${provider} still exist cannot be told: ${reason}`);
      }
      tally.add({ checked: report.checked, ...(who === undefined ? { round: true } : {}) });
      return { ...report, unreachable: hindered };
    },
  };
}

async function inParallel<T>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  const worker = async () => {
    for (;;) {
      signal?.throwIfAborted();
      const next = await iterator.next();
      if (next.done === true) return;
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function isThat(subject: Subject, question: string): boolean {
  return subject.kind === 'federated' && questionOf(subject) === question;
}

function disabled({ displayName, provider }: FederatedSubject, how: Loss): IdentityProblem {
  return new IdentityProblem('PersonDisabled', `${displayName} ${whatIs(how)} at the provider ${provider}.`);
}

function whatIs(how: Loss): string {
  switch (how) {
    case 'gone':
      return 'does not exist any more';
    case 'disabled':
      return 'is disabled';
    case 'left-group':
      return 'left a group that the credentials were given for';
    default:
      return how satisfies never;
  }
}
