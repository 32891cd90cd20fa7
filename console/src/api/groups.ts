import { useQuery } from '@tanstack/react-query';
import type { GroupList, GroupRow, NameChange, NewGroup, Status } from '../../../protocol/console/identity-answers.ts';
import { call } from './call.ts';
import { useApiMutation, useList } from './queries.ts';

const stale = ['groups', 'group', 'users', 'user', 'policy'];

const rowsOf = ({ groups }: GroupList) => groups;

export function useGroups(contains: string, enabled = true) {
  return useList({ key: ['groups', contains], path: '/groups', query: { contains }, rowsOf, enabled });
}

export function useGroup(name: string) {
  return useQuery({
    queryKey: ['group', name],
    queryFn: () => call<GroupRow>('GET', '/group', { query: { name } }),
  });
}

export function useCreateGroup() {
  return useApiMutation((group: NewGroup) => call<GroupRow>('POST', '/groups', { body: group }), stale);
}

export function useDeleteGroup() {
  return useApiMutation((name: string) => call('DELETE', '/group', { query: { name } }), stale);
}

export function useSetGroupStatus() {
  return useApiMutation(
    ({ name, status }: { readonly name: string; readonly status: Status }) =>
      call('PUT', '/group/status', { query: { name }, body: { status } }),
    stale,
  );
}

export function useSetGroupMembers(name: string) {
  return useApiMutation(
    (members: NameChange) => call('PUT', '/group/members', { query: { name }, body: { members } }),
    stale,
  );
}

export function useSetGroupPolicies(name: string) {
  return useApiMutation(
    (policies: NameChange) => call('PUT', '/group/policies', { query: { name }, body: { policies } }),
    stale,
  );
}
