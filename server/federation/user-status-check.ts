import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { counted } from '../../platform/text/message-text.ts';
import { OpenIdError, TokenError } from '../../platform/openid/errors.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { FederatedSubject, Subject } from '../auth/identities/subject.ts';
import type { Revocations, CheckCounter } from './user-status-records.ts';
import type { OpenIdProviders } from './openid-providers.ts';
import {
  externalUsers,
  type ExternalUser,
  type CheckableUser,
  checkableUser,
  type UserStatus,
  statusKeyOf,
} from './external-users.ts';
import type { LdapDirectory } from './ldap/ldap-directory.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import { forEachLimit } from '../../platform/async/concurrency.ts';

/**
 * Checks by the admin interface of the provider, or by the directory, whether external users with credentials still exist: when they get
 * credentials, at intervals, and on request. If a user is disabled or gone, it revokes temporary credentials and disables service accounts
 * at once. A user who left a group of the directory loses only the credentials that were made for it.
 */
export interface UserStatusCheck {
  /**
   * Runs before credentials are made. Rejects with `TokenError` PersonDisabled, or with `OpenIdError` if the provider cannot answer
   * and the setting says to refuse. Does nothing for subjects whose provider has no status.
   */
  admit(subject: Subject): Promise<void>;
  /** Runs after credentials were made. Rejects if the user's access was revoked since `admit`. */
  confirm(subject: Subject): Promise<void>;
  /** Checks all external users with credentials, or those with the parent, subject or display name `who`. */
  run(who?: string, signal?: AbortSignal): Promise<UserStatusReport>;
}

interface UserStatusReport {
  readonly checked: number;
  readonly active: number;
  readonly cutOff: readonly RevokedUser[];
  /** Users without a known status, by the reason. */
  readonly unreachable: readonly { readonly provider: string; readonly people: number; readonly reason: string }[];
}

type RevocationReason = Exclude<UserStatus['kind'], 'active'>;

interface RevokedUser {
  readonly provider: string;
  readonly name: string;
  readonly parent: string;
  readonly reason: RevocationReason;
  readonly temporaryCredentials: number;
  /** Access keys. */
  readonly serviceAccounts: readonly string[];
}

interface UserStatusCheckOptions {
  readonly providers: Pick<OpenIdProviders, 'list' | 'byId' | 'started'>;
  /** Absent if none is configured. */
  readonly directory?: Pick<LdapDirectory, 'stateOf'> | undefined;
  readonly temporary: TemporaryCredentialsStore;
  readonly identities: Pick<Identities, 'serviceAccounts' | 'updateServiceAccount'>;
  readonly revocations: Revocations;
  readonly counter: CheckCounter;
  readonly unreachable: 'keep' | 'refuse';
  readonly log: UserStatusCheckLog;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

type UserStatusCheckLog = Pick<StructuredLog, 'info' | 'warn'>;

/** Milliseconds for which an active status is cached. */
const rememberedMs = 5_000;
const maxRemembered = 5_000;
/** Concurrent status requests, few enough for any provider. */
const concurrency = 4;
/** Milliseconds. A status request that fails after a longer time counts as unanswered. */
const unansweredMs = 1_000;
/** Requests in a row that a provider leaves unanswered before a round asks it no more. */
const maxUnanswered = 8;

export function createUserStatusCheck(options: UserStatusCheckOptions): UserStatusCheck {
  const { providers, revocations, counter, log } = options;
  const now = options.now ?? (() => performance.now());
  const remembered = new Map<string, { readonly at: number; readonly state: Promise<UserStatus> }>();

  function cachedStatus(user: CheckableUser): Promise<UserStatus> {
    const known = remembered.get(user.key);
    if (known !== undefined && now() - known.at < rememberedMs) return known.state;
    return currentStatus(user);
  }

  function currentStatus({ key, ask }: CheckableUser): Promise<UserStatus> {
    const state = ask();
    // Failures are cached too, so that many requests do not wait for a hanging provider. A disabled status is not: its record decides, and
    // another thread may have removed that.
    const forget = ({ kind }: UserStatus) => kind !== 'active' && remembered.delete(key);
    state.then(forget, () => undefined);
    remembered.delete(key);
    for (const oldest of remembered.keys()) {
      if (remembered.size < maxRemembered) break;
      remembered.delete(oldest);
    }
    remembered.set(key, { at: now(), state });
    return state;
  }

  async function revoke({ provider, subject }: CheckableUser, reason: RevocationReason): Promise<RevokedUser> {
    const { parent, displayName } = subject;
    const onlyKey = reason === 'left-group' ? statusKeyOf(subject) : undefined;
    // The record comes first: credentials that are being made either see it, or are among those that are revoked.
    if (onlyKey === undefined) await revocations.add(parent);
    const temporaryCredentials =
      onlyKey === undefined ? await options.temporary.revokeAllOf(parent) : await revokeByKey(parent, onlyKey);
    const serviceAccounts: string[] = [];
    for await (const { accessKey, status, subject: owner } of options.identities.serviceAccounts(parent)) {
      if (status === 'disabled' || (onlyKey !== undefined && !hasStatusKey(owner, onlyKey))) continue;
      await options.identities.updateServiceAccount(accessKey, { status: 'disabled' });
      serviceAccounts.push(accessKey);
    }
    const revoked = { provider, name: displayName, parent, reason, temporaryCredentials, serviceAccounts };
    if (temporaryCredentials > 0 || serviceAccounts.length > 0) {
      counter.add({ cutOff: 1 });
      log.warn(
        { provider, user: displayName, parent, temporaryCredentials, serviceAccounts },
        `${displayName} ${describeReason(reason)} at the provider ${provider}: access was revoked`,
      );
    }
    return revoked;
  }

  /** Revokes the temporary credentials of an owner that were made for the same groups. */
  async function revokeByKey(parent: string, key: string): Promise<number> {
    let count = 0;
    for await (const { accessKey, principal } of options.temporary.ofOwner(parent)) {
      if (!hasStatusKey(principal.subject, key)) continue;
      await options.temporary.revoke(accessKey);
      count += 1;
    }
    return count;
  }

  return {
    async admit(asked) {
      const user = checkableUser(options, asked);
      if (user === undefined) return;
      const { provider, subject } = user;
      const wasRevoked = await revocations.has(subject.parent);
      let state: UserStatus;
      try {
        state = await (wasRevoked ? currentStatus(user) : cachedStatus(user));
      } catch (error) {
        if (!(error instanceof OpenIdError)) throw error;
        counter.add({ unreachable: 1 });
        const fields = { provider, code: error.code };
        const whatFollows =
          options.unreachable === 'keep' && !wasRevoked ? 'gets credentials anyway' : 'gets no credentials';
        log.warn(fields, `user status check of ${subject.displayName} failed, who ${whatFollows}: ${error.message}`);
        // A user with a revocation stays out until the provider reports an active status.
        if (options.unreachable === 'refuse' || wasRevoked) throw error;
        return;
      }
      if (state.kind !== 'active') {
        await revoke(user, state.kind);
        throw disabled(subject, state.kind);
      }
      if (wasRevoked) await revocations.remove(subject.parent);
    },

    async confirm(asked) {
      const { subject } = checkableUser(options, asked) ?? {};
      if (subject !== undefined && (await revocations.has(subject.parent))) throw disabled(subject, 'disabled');
    },

    async run(who, signal) {
      await providers.started;
      // Each request to a provider that does not answer takes its whole timeout: a round over 10,000 users would take hours.
      const unanswered = new Map<string, number>();
      const report = { checked: 0, active: 0, cutOff: [] as RevokedUser[] };
      const unreachable = new Map<string, { provider: string; people: number; notAsked: number; reason: string }>();
      const one = async ({ subject }: ExternalUser) => {
        const user = checkableUser(options, subject);
        if (user === undefined) return;
        const { provider } = user;
        const failure = [...unreachable.values()].findLast((known) => known.provider === provider);
        if (failure !== undefined && (unanswered.get(provider) ?? 0) >= maxUnanswered) {
          failure.people += 1;
          failure.notAsked += 1;
          return;
        }
        report.checked += 1;
        const began = now();
        try {
          const state = await currentStatus(user);
          unanswered.delete(provider);
          if (state.kind === 'active') report.active += 1;
          else report.cutOff.push(await revoke(user, state.kind));
        } catch (error) {
          if (!(error instanceof OpenIdError)) throw error;
          if (now() - began < unansweredMs) unanswered.delete(provider);
          else unanswered.set(provider, (unanswered.get(provider) ?? 0) + 1);
          const key = `${provider} ${error.message}`;
          const known = unreachable.get(key) ?? { provider, people: 0, notAsked: 0, reason: error.message };
          known.people += 1;
          unreachable.set(key, known);
        }
      };
      await forEachLimit(externalUsers(options, who), concurrency, (user) => {
        signal?.throwIfAborted();
        return one(user);
      });
      signal?.throwIfAborted();
      const failures = [...unreachable.values()].map(({ notAsked, reason, ...failure }) => ({
        ...failure,
        reason:
          notAsked === 0
            ? reason
            : `${reason.replace(/\.$/, '')} (${maxUnanswered} in a row: ${notAsked} others were not asked about)`,
      }));
      for (const { provider, people, reason } of failures) {
        counter.add({ unreachable: people });
        log.warn(
          { provider, people },
          `user status check of ${counted(people, 'user')} of ${provider} failed: ${reason}`,
        );
      }
      counter.add({ checked: report.checked, ...(who === undefined ? { round: true } : {}) });
      return { ...report, unreachable: failures };
    },
  };
}

function hasStatusKey(subject: Subject, key: string): boolean {
  return subject.kind === 'federated' && statusKeyOf(subject) === key;
}

function disabled({ displayName, provider }: FederatedSubject, how: RevocationReason): TokenError {
  return new TokenError('PersonDisabled', `${displayName} ${describeReason(how)} at the provider ${provider}.`);
}

function describeReason(how: RevocationReason): string {
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
