import type { ChangeContext } from './change-users.ts';
import { noSuchUser } from './change-users.ts';
import type { IdentityChanges } from './identities.ts';
import { IdentityError } from './identity-error.ts';
import { identityKeys } from './identity-keys.ts';
import { checkName } from './identity-names.ts';
import type { Group } from './identity-records.ts';

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
        const stranger = members.find((member) => !known.members.includes(member));
        if (stranger !== undefined) {
          throw new IdentityError('no-such-user', `${JSON.stringify(stranger)} is no member of the group ${name}.`);
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
