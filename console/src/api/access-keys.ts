import { useQuery } from '@tanstack/react-query';
import type {
  AccessKeyAnswer,
  AccessKeyChange,
  AccessKeyList,
  NewAccessKey,
  NewAccessKeyAnswer,
} from '../../../protocol/console/identity-answers.ts';
import { call } from './call.ts';
import { useApiMutation, useList } from './queries.ts';

const stale = ['access-keys', 'access-key', 'user'];

const rowsOf = ({ keys }: AccessKeyList) => keys;

export function useAccessKeys(of: 'own' | 'all', contains: string) {
  return useList({ key: ['access-keys', of, contains], path: '/access-keys', query: { of, contains }, rowsOf });
}

export function useAccessKey(key: string) {
  return useQuery({
    queryKey: ['access-key', key],
    queryFn: () => call<AccessKeyAnswer>('GET', '/access-key', { query: { key } }),
  });
}

export function useCreateAccessKey() {
  return useApiMutation(
    (form: NewAccessKey) => call<NewAccessKeyAnswer>('POST', '/access-keys', { body: form }),
    stale,
  );
}

export function useChangeAccessKey() {
  return useApiMutation(
    ({ key, change }: { readonly key: string; readonly change: AccessKeyChange }) =>
      call('PUT', '/access-key', { query: { key }, body: change }),
    stale,
  );
}

export function useDeleteAccessKey() {
  return useApiMutation((key: string) => call('DELETE', '/access-key', { query: { key } }), stale);
}
