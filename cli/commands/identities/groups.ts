import { adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { textFields } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';

interface GroupInfo {
  readonly name?: string;
  readonly status?: string;
  readonly members?: readonly string[] | null;
  /** Names separated by commas. */
  readonly policy?: string;
}

export async function addToGroup(
  context: Context,
  [alias = '', group = '', ...members]: readonly string[],
): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = { group, members, groupStatus: 'enabled', isRemove: false };
  await admin.send({ method: 'PUT', call: 'update-group-members', body });
  context.output.message(`Added members \`${members.join(',')}\` to group \`${group}\` successfully.`, {
    groupName: group,
    members,
  });
}

/** Removes members. Without members it removes the group, which must be empty. */
export async function removeFromGroup(
  context: Context,
  [alias = '', group = '', ...members]: readonly string[],
): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = { group, members, groupStatus: 'enabled', isRemove: true };
  await admin.send({ method: 'PUT', call: 'update-group-members', body });
  const what = members.length === 0 ? `group \`${group}\`` : `members \`${members.join(',')}\` from group \`${group}\``;
  context.output.message(`Removed ${what} successfully.`, {
    groupName: group,
    ...(members.length === 0 ? {} : { members }),
  });
}

export async function listGroups(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const groups = (await admin.json<readonly string[] | null>({ method: 'GET', call: 'groups' })) ?? [];
  const human =
    groups.length === 0
      ? `There are no groups. Make one: coffer admin group add ${alias} GROUP USER`
      : groups.map(printable).join('\n');
  context.output.message(human, { groups });
}

export async function showGroup(context: Context, [alias = '', name = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const group = await admin.json<GroupInfo>({ method: 'GET', call: 'group', query: { group: name } });
  const { status = '', policy = '' } = group;
  const members = group.members ?? [];
  context.output.message(
    textFields({
      Group: name,
      Status: status,
      Policies: policy.replaceAll(',', ', ') || 'none',
      Members: members.join(', ') || 'none',
    }),
    { groupName: name, members, groupStatus: status, groupPolicy: policy },
  );
}

export async function setGroupStatus(
  context: Context,
  [alias = '', group = '']: readonly string[],
  status: 'enabled' | 'disabled',
): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'PUT', call: 'set-group-status', query: { group, status } });
  const done = status === 'enabled' ? 'Enabled' : 'Disabled';
  context.output.message(`${done} group \`${group}\` successfully.`, { groupName: group, groupStatus: status });
}
