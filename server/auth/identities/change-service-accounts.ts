import { parseNewPolicy } from '../../../protocol/policy/parse-policy.ts';
import { type ChangeContext, inUse, noSuchUser } from './change-users.ts';
import type { IdentityChanges, ServiceAccountChange } from './identities.ts';
import { IdentityError } from '../identity-error.ts';
import { checkNewAccessKey, checkSecretKey, newAccessKey, newSecretKey } from './names.ts';
import { identityKeys, type ServiceAccount } from './records.ts';
import { ownerOf } from './subject.ts';

type Changes = Pick<
  IdentityChanges,
  'createServiceAccount' | 'updateServiceAccount' | 'removeServiceAccount' | 'removeServiceAccountsOf'
>;

export function serviceAccountChanges({ change, clock, rootUser }: ChangeContext): Changes {
  return {
    createServiceAccount: async ({ subject, expiration, ...given }) => {
      const accessKey = given.accessKey ?? newAccessKey();
      const secretKey = given.secretKey ?? newSecretKey();
      checkNewAccessKey(accessKey);
      checkSecretKey(secretKey);
      if (given.policy !== undefined) parseNewPolicy(given.policy);
      const now = clock();
      if (expiration !== undefined) checkExpiration(expiration, now);
      if (accessKey === rootUser) throw inUse(accessKey, 'the root user');
      return change(async (view) => {
        if ((await view.user(accessKey)) !== undefined) throw inUse(accessKey, 'a user');
        if ((await view.serviceAccount(accessKey)) !== undefined) throw inUse(accessKey, 'another service account');
        if (subject.kind === 'user' && (await view.user(subject.name)) === undefined) throw noSuchUser(subject.name);
        const account: ServiceAccount = {
          format: 1,
          accessKey,
          secretKey,
          subject,
          status: given.status ?? 'enabled',
          ...withoutUndefined({ policy: given.policy, name: given.name, description: given.description }),
          ...(expiration === undefined ? {} : { expiration: expiration.getTime() }),
          createdAt: now.getTime(),
          updatedAt: now.getTime(),
        };
        const put = [
          { key: identityKeys.serviceAccount(accessKey), value: account },
          { key: identityKeys.owned(ownerOf(subject), accessKey), value: {} },
        ];
        return { batch: { put }, result: account };
      });
    },

    updateServiceAccount: async (accessKey, update) => {
      if (update.secretKey !== undefined) checkSecretKey(update.secretKey);
      if (typeof update.policy === 'string') parseNewPolicy(update.policy);
      const now = clock();
      if (update.expiration instanceof Date) checkExpiration(update.expiration, now);
      return change(async (view) => {
        const known = (await view.serviceAccount(accessKey)) ?? noSuchAccount(accessKey);
        const account = updated(known, update, now);
        return { batch: { put: [{ key: identityKeys.serviceAccount(accessKey), value: account }] }, result: account };
      });
    },

    removeServiceAccount: (accessKey) =>
      change(async (view) => {
        const { subject } = (await view.serviceAccount(accessKey)) ?? noSuchAccount(accessKey);
        const gone = [identityKeys.serviceAccount(accessKey), identityKeys.owned(ownerOf(subject), accessKey)];
        return { batch: { delete: gone }, result: undefined };
      }),

    removeServiceAccountsOf: (owner) =>
      change(async (view) => {
        const keys: string[] = [];
        for await (const { accessKey } of view.serviceAccounts(owner)) keys.push(accessKey);
        const gone = keys.flatMap((key) => [identityKeys.serviceAccount(key), identityKeys.owned(owner, key)]);
        return { batch: { delete: gone }, result: keys };
      }),
  };
}

function updated(known: ServiceAccount, update: ServiceAccountChange, now: Date): ServiceAccount {
  const { policy, name, description, expiration, ...kept } = known;
  const end = update.expiration === undefined ? expiration : (update.expiration?.getTime() ?? undefined);
  return {
    ...kept,
    ...withoutUndefined({
      secretKey: update.secretKey,
      status: update.status,
      policy: replaced(policy, update.policy),
      name: replaced(name, update.name),
      description: replaced(description, update.description),
      expiration: end,
    }),
    updatedAt: now.getTime(),
  };
}

function replaced(known: string | undefined, update: string | null | undefined): string | undefined {
  return update === undefined ? known : (update ?? undefined);
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Records leave out fields without a value, and the types say the same.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function checkExpiration(expiration: Date, now: Date): void {
  if (expiration > now) return;
  throw new IdentityError('invalid-expiration', `The expiration ${expiration.toISOString()} is not in the future.`);
}

function noSuchAccount(accessKey: string): never {
  throw new IdentityError(
    'no-such-service-account',
    `There is no service account ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}
