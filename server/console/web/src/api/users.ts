import { useQuery } from '@tanstack/react-query';
import type { NewUser, SecretAnswer, Status, UserAnswer, UserList } from '../../../contract/identity-answers.ts';
import { call } from './call.ts';
import { useChange, useList } from './queries.ts';

/** What changes with a user: lists, the user, whose keys there are, and who has a policy. */
const stale = ['users', 'user', 'groups', 'group', 'access-keys', 'policy'];

const rowsOf = ({ users }: UserList) => users;

export function useUsers(contains: string, enabled = true) {
  return useList({ key: ['users', contains], path: '/users', query: { contains }, rowsOf, enabled });
}

export function useUser(name: string) {
  return useQuery({
    queryKey: ['user', name],
    queryFn: () => call<UserAnswer>('GET', '/user', { query: { name } }),
  });
}

export function useCreateUser() {
  return useChange((user: NewUser) => call<SecretAnswer>('POST', '/users', { body: user }), stale);
}

export function useDeleteUser() {
  return useChange((name: string) => call('DELETE', '/user', { query: { name } }), stale);
}

export function useSetUserStatus() {
  return useChange(
    ({ name, status }: { readonly name: string; readonly status: Status }) =>
      call('PUT', '/user/status', { query: { name }, body: { status } }),
    stale,
  );
}

/** Without a secret the server makes one, and answers it. */
export function useReplaceSecret(name: string) {
  return useChange(
    (secretKey: string | undefined) =>
      call<SecretAnswer>('PUT', '/user/secret-key', {
        query: { name },
        body: secretKey === undefined ? {} : { secretKey },
      }),
    stale,
  );
}

export function useSetUserPolicies(name: string) {
  return useChange(
    (policies: readonly string[]) => call('PUT', '/user/policies', { query: { name }, body: { policies } }),
    stale,
  );
}

export function useSetUserGroups(name: string) {
  return useChange(
    (groups: readonly string[]) => call('PUT', '/user/groups', { query: { name }, body: { groups } }),
    stale,
  );
}

export function useReplaceOwnSecret() {
  return useChange(
    (form: { readonly currentSecretKey: string; readonly secretKey: string }) =>
      call('PUT', '/own-secret-key', { body: form }),
    ['session'],
  );
}
