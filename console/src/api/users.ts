import { useQuery } from '@tanstack/react-query';
import type {
  NameChange,
  NewUser,
  SecretAnswer,
  Status,
  UserAnswer,
  UserList,
} from '../../../protocol/console/identity-answers.ts';
import { call } from './call.ts';
import { useApiMutation, useList } from './queries.ts';

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
  return useApiMutation((user: NewUser) => call<SecretAnswer>('POST', '/users', { body: user }), stale);
}

export function useDeleteUser() {
  return useApiMutation((name: string) => call('DELETE', '/user', { query: { name } }), stale);
}

export function useSetUserStatus() {
  return useApiMutation(
    ({ name, status }: { readonly name: string; readonly status: Status }) =>
      call('PUT', '/user/status', { query: { name }, body: { status } }),
    stale,
  );
}

/** Without a secret key, the server generates one and returns it. */
export function useReplaceSecret(name: string) {
  return useApiMutation(
    (secretKey: string | undefined) =>
      call<SecretAnswer>('PUT', '/user/secret-key', {
        query: { name },
        body: secretKey === undefined ? {} : { secretKey },
      }),
    stale,
  );
}

export function useSetUserPolicies(name: string) {
  return useApiMutation(
    (policies: NameChange) => call('PUT', '/user/policies', { query: { name }, body: { policies } }),
    stale,
  );
}

export function useSetUserGroups(name: string) {
  return useApiMutation(
    (groups: NameChange) => call('PUT', '/user/groups', { query: { name }, body: { groups } }),
    stale,
  );
}

export function useReplaceOwnSecret() {
  return useApiMutation(
    (form: { readonly currentSecretKey: string; readonly secretKey: string }) =>
      call('PUT', '/own-secret-key', { body: form }),
    ['session'],
  );
}
