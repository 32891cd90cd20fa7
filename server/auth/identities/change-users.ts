import type { Change, IdentityView } from './transaction.ts';
import type { IdentityChanges, NameChange } from './identities.ts';
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

type GroupChanges = Pick<
  IdentityChanges,
  'createGroup' | 'addMembers' | 'removeMembers' | 'changeMembers' | 'changeGroups' | 'setGroupStatus' | 'removeGroup'
>;

export function groupChanges({ change, clock }: ChangeContext): GroupChanges {
  const now = () => clock().getTime();
  return {
    createGroup: async (name, members) => {
      checkName('group', name);
      return change(async (view) => {
        if ((await view.group(name)) !== undefined) {
          throw new IdentityError('group-exists', `There is a group ${name} already.`);
        }
        return withMembers(view, newGroup(name), { add: members, remove: [] }, now());
      });
    },

    addMembers: async (name, members) => {
      checkName('group', name);
      return change(async (view) =>
        withMembers(view, (await view.group(name)) ?? newGroup(name), { add: members, remove: [] }, now()),
      );
    },

    removeMembers: (name, members) =>
      change(async (view) => {
        const known = (await view.group(name)) ?? noSuchGroup(name);
        const unknown = members.find((member) => !known.members.includes(member));
        if (unknown !== undefined) {
          throw new IdentityError('no-such-user', `${JSON.stringify(unknown)} is no member of the group ${name}.`);
        }
        return withMembers(view, known, { add: [], remove: members }, now());
      }),

    changeMembers: (name, members) =>
      change(async (view) => withMembers(view, (await view.group(name)) ?? noSuchGroup(name), members, now())),

    changeGroups: (user, { add, remove }) =>
      change(async (view) => {
        if ((await view.user(user)) === undefined) throw noSuchUser(user);
        const joined = await Promise.all(
          [...new Set(add)].map(async (name) => (await view.group(name)) ?? noSuchGroup(name)),
        );
        // A group that was removed meanwhile has no members.
        const left = (await Promise.all([...new Set(remove)].map((name) => view.group(name)))).filter(
          (one) => one !== undefined,
        );
        const changes = await Promise.all([
          ...joined.map((group) => withMembers(view, group, { add: [user], remove: [] }, now())),
          ...left.map((group) => withMembers(view, group, { add: [], remove: [user] }, now())),
        ]);
        return {
          batch: {
            put: changes.flatMap(({ batch }) => batch.put),
            delete: changes.flatMap(({ batch }) => batch.delete),
          },
          result: undefined,
        };
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

function newGroup(name: string): Group {
  return { format: 1, name, members: [], status: 'enabled', updatedAt: 0 };
}

/** The change that adds users, which must exist, to a group, and removes others. */
async function withMembers(view: IdentityView, known: Group, { add, remove }: NameChange, updatedAt: number) {
  for (const member of add) if ((await view.user(member)) === undefined) throw noSuchUser(member);
  const kept = known.members.filter((member) => !remove.includes(member));
  const group: Group = { ...known, members: [...new Set([...kept, ...add])], updatedAt };
  const gone = known.members.filter((member) => !group.members.includes(member));
  return {
    batch: {
      put: [
        { key: identityKeys.group(known.name), value: group },
        ...add.map((member) => ({ key: identityKeys.membership(member, known.name), value: {} })),
      ],
      delete: gone.map((member) => identityKeys.membership(member, known.name)),
    },
    result: group,
  };
}

export function noSuchGroup(name: string): never {
  throw new IdentityError('no-such-group', `There is no group ${JSON.stringify(name.slice(0, 128))}.`);
}
