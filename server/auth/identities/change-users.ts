import type { Change } from './transaction.ts';
import type { IdentityChanges } from './identities.ts';
import { IdentityError } from '../identity-error.ts';
import { checkAccessKey, checkNewAccessKey, checkSecretKey, checkName } from './names.ts';
import { identityKeys, type User, type Group } from './records.ts';
import { ownerOf, parentName } from './subject.ts';

export interface ChangeContext {
  readonly change: Change;
  readonly clock: () => Date;
  /** The access key of root, which no user can have. */
  readonly rootUser: string;
}

export function userChanges({
  change,
  clock,
  rootUser,
}: ChangeContext): Pick<IdentityChanges, 'putUser' | 'removeUser'> {
  return {
    putUser: async ({ accessKey, secretKey, status, onlyNew }) => {
      checkAccessKey(accessKey);
      if (secretKey !== undefined) checkSecretKey(secretKey);
      if (accessKey === rootUser) throw inUse(accessKey, 'the root user');
      return change(async (view) => {
        const known = await view.user(accessKey);
        if (known !== undefined && onlyNew === true) throw inUse(accessKey, 'another user');
        if (known === undefined) {
          checkNewAccessKey(accessKey);
          const account = await view.serviceAccount(accessKey);
          if (account !== undefined) {
            const owner = parentName(account.subject, rootUser);
            throw inUse(accessKey, `a service account of ${owner}`, 'remove that access key, or choose another');
          }
        }
        const secret = secretKey ?? known?.secretKey;
        if (secret === undefined) throw noSuchUser(accessKey);
        const user: User = {
          format: 1,
          accessKey,
          secretKey: secret,
          status: status ?? known?.status ?? 'enabled',
          updatedAt: clock().getTime(),
        };
        return { batch: { put: [{ key: identityKeys.user(accessKey), value: user }] }, result: user };
      });
    },

    removeUser: (accessKey) =>
      change(async (view) => {
        if ((await view.user(accessKey)) === undefined) throw noSuchUser(accessKey);
        const target = { kind: 'user', name: accessKey } as const;
        const now = clock().getTime();
        const memberships = await view.groupNamesOf(accessKey);
        const groups = (await Promise.all(memberships.map((name) => view.group(name)))).filter(
          (one) => one !== undefined,
        );
        const attachment = await view.attachment(target);
        const owner = ownerOf(target);
        const accounts: string[] = [];
        for await (const account of view.serviceAccounts(owner)) accounts.push(account.accessKey);
        return {
          batch: {
            put: groups.map((group) => ({
              key: identityKeys.group(group.name),
              value: { ...group, members: group.members.filter((name) => name !== accessKey), updatedAt: now },
            })),
            delete: [
              identityKeys.user(accessKey),
              identityKeys.attachment(target),
              ...memberships.map((group) => identityKeys.membership(accessKey, group)),
              ...(attachment?.policies ?? []).map((policy) => identityKeys.attachedTo(policy, target)),
              ...accounts.flatMap((key) => [identityKeys.serviceAccount(key), identityKeys.owned(owner, key)]),
            ],
          },
          result: accounts,
        };
      }),
  };
}

export function noSuchUser(accessKey: string): IdentityError {
  return new IdentityError('no-such-user', `There is no user ${JSON.stringify(accessKey.slice(0, 128))}.`);
}

export function inUse(accessKey: string, by: string, advice = 'choose another'): IdentityError {
  return new IdentityError('access-key-in-use', `The access key ${accessKey} belongs to ${by}; ${advice}.`);
}

type GroupChanges = Pick<IdentityChanges, 'addMembers' | 'removeMembers' | 'setGroupStatus' | 'removeGroup'>;

export function groupChanges({ change, clock }: ChangeContext): GroupChanges {
  const now = () => clock().getTime();
  return {
    addMembers: async (name, members) => {
      checkName('group', name);
      return change(async (view) => {
        for (const member of members) if ((await view.user(member)) === undefined) throw noSuchUser(member);
        const known = (await view.group(name)) ?? { format: 1, name, members: [], status: 'enabled', updatedAt: 0 };
        const group: Group = { ...known, members: [...new Set([...known.members, ...members])], updatedAt: now() };
        const memberships = members.map((member) => ({ key: identityKeys.membership(member, name), value: {} }));
        return { batch: { put: [{ key: identityKeys.group(name), value: group }, ...memberships] }, result: group };
      });
    },

    removeMembers: (name, members) =>
      change(async (view) => {
        const known = (await view.group(name)) ?? noSuchGroup(name);
        const unknown = members.find((member) => !known.members.includes(member));
        if (unknown !== undefined) {
          throw new IdentityError('no-such-user', `${JSON.stringify(unknown)} is no member of the group ${name}.`);
        }
        const left = known.members.filter((member) => !members.includes(member));
        const group: Group = { ...known, members: left, updatedAt: now() };
        const gone = members.map((member) => identityKeys.membership(member, name));
        return { batch: { put: [{ key: identityKeys.group(name), value: group }], delete: gone }, result: group };
      }),

    setGroupStatus: (name, status) =>
      change(async (view) => {
        const group: Group = { ...((await view.group(name)) ?? noSuchGroup(name)), status, updatedAt: now() };
        return { batch: { put: [{ key: identityKeys.group(name), value: group }] }, result: group };
      }),

    removeGroup: (name) =>
      change(async (view) => {
        const group = (await view.group(name)) ?? noSuchGroup(name);
        if (group.members.length > 0) {
          throw new IdentityError(
            'group-not-empty',
            `The group ${name} has ${group.members.length} members; remove them first.`,
          );
        }
        const target = { kind: 'group', name } as const;
        const attachment = await view.attachment(target);
        const index = (attachment?.policies ?? []).map((policy) => identityKeys.attachedTo(policy, target));
        const gone = [identityKeys.group(name), identityKeys.attachment(target), ...index];
        return { batch: { delete: gone }, result: undefined };
      }),
  };
}

export function noSuchGroup(name: string): never {
  throw new IdentityError('no-such-group', `There is no group ${JSON.stringify(name.slice(0, 128))}.`);
}
