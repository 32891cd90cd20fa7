import { z } from 'zod';
import type { Identities } from '../auth/identities/identities.ts';
import { adminPath, jsonBody, type AdminAnswer, type AdminCall, json, nothing, type Route } from './call.ts';
import { statusOf } from '../administration/service-accounts.ts';
import { adminError } from '../administration/admin-error.ts';

const statusAction = 'admin:EnableGroup';

export const groupRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('update-group-members'), action: 'admin:AddUserToGroup', serve: updateMembers },
  { method: 'GET', path: adminPath('group'), action: 'admin:GetGroup', serve: describeGroup },
  { method: 'GET', path: adminPath('groups'), action: 'admin:ListGroups', serve: listGroups },
  { method: 'PUT', path: adminPath('set-group-status'), action: statusAction, serve: setGroupStatus },
];

const memberChange = z
  .strictObject({
    group: z.string(),
    members: z.array(z.string()).nullish(),
    isRemove: z.boolean().optional(),
    /** A new group is enabled. `mc` sends `enabled` with each addition, which enables no group that was disabled. */
    groupStatus: z.enum(['', 'enabled', 'disabled']).nullish(),
    /** minio-java sends it beside `isRemove`. */
    remove: z.boolean().optional(),
  })
  .refine(({ remove, isRemove = false }) => remove === undefined || remove === isRemove, 'remove is not isRemove');

/** An addition creates the group if needed. A removal without names removes the group. */
async function updateMembers(call: AdminCall): Promise<AdminAnswer> {
  const { identities } = call.services;
  const { group, members, isRemove = false, groupStatus } = await jsonBody(call, memberChange);
  const names = members ?? [];
  if (!isRemove) {
    const disables = groupStatus === 'disabled';
    if (disables) await call.require(statusAction);
    await identities.addMembers(group, names);
    if (disables) await identities.setGroupStatus(group, 'disabled');
  } else if (names.length === 0) await identities.removeGroup(group);
  else await identities.removeMembers(group, await withoutStrangers(identities, group, names));
  return nothing;
}

/** Removing a user who is no member succeeds, so that scripts can repeat; unknown names fail. */
async function withoutStrangers(identities: Identities, group: string, names: readonly string[]): Promise<string[]> {
  const members = (await identities.group(group))?.members ?? [];
  const kept: string[] = [];
  for (const name of names) {
    if (members.includes(name) || (await identities.user(name)) === undefined) kept.push(name);
  }
  return kept;
}

async function describeGroup(call: AdminCall): Promise<AdminAnswer> {
  const { identities } = call.services;
  const name = call.required('group');
  const group = await identities.group(name);
  if (group === undefined) {
    throw adminError('XMinioAdminNoSuchGroup', `There is no group ${JSON.stringify(name.slice(0, 128))}.`);
  }
  const policies = await identities.attached({ kind: 'group', name });
  return json({
    name,
    status: group.status,
    members: group.members,
    policy: policies.join(','),
    updatedAt: new Date(group.updatedAt).toISOString(),
  });
}

async function listGroups({ services }: AdminCall): Promise<AdminAnswer> {
  const names: string[] = [];
  for await (const { name } of services.identities.groups()) names.push(name);
  return json(names);
}

async function setGroupStatus(call: AdminCall): Promise<AdminAnswer> {
  await call.services.identities.setGroupStatus(call.required('group'), statusOf(call.required('status')));
  return nothing;
}
