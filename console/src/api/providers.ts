import { useMutation, useQuery } from '@tanstack/react-query';
import type { ProviderAnswer, ProviderKinds, ProviderTest } from '../../../protocol/console/provider-answers.ts';
import { call, isRefresh } from './call.ts';
import { useApiMutation } from './queries.ts';

const stale = ['identity-providers', 'identity-provider', 'sign-in-options'];

/** The name of a configuration. */
export interface ProviderName {
  readonly type: string;
  readonly name: string;
}

type Values = Readonly<Record<string, string>>;

export function useProviders() {
  return useQuery({
    queryKey: ['identity-providers'],
    queryFn: (query) => call<ProviderKinds>('GET', '/identity-providers', { refresh: isRefresh(query) }),
    // A provider that answers again appears without a reload.
    refetchInterval: 5_000,
  });
}

export function useProvider({ type, name }: ProviderName) {
  return useQuery({
    queryKey: ['identity-provider', type, name],
    queryFn: () => call<ProviderAnswer>('GET', '/identity-provider', { query: { type, name } }),
  });
}

export function useAddProvider(type: string) {
  return useApiMutation(
    (form: { readonly name: string; readonly values: Values }) =>
      call('POST', '/identity-providers', { query: { type }, body: form }),
    stale,
  );
}

/** Sends the changed values; an empty one is removed. */
export function useChangeProvider({ type, name }: ProviderName) {
  return useApiMutation(
    (changes: Values) => call('PUT', '/identity-provider', { query: { type, name }, body: { changes } }),
    stale,
  );
}

export function useEnableProvider() {
  return useApiMutation(
    ({ type, name, enabled }: ProviderName & { readonly enabled: boolean }) =>
      call('PUT', '/identity-provider/enabled', { query: { type, name }, body: { enabled } }),
    stale,
  );
}

export function useRemoveProvider() {
  return useApiMutation(
    ({ type, name }: ProviderName) => call('DELETE', '/identity-provider', { query: { type, name } }),
    stale,
  );
}

interface TestQuestion {
  /** The values of a form; absent: the saved ones. */
  readonly values?: Values;
  /** The name to look up in a directory. */
  readonly person?: string;
}

export function useTestProvider({ type, name }: ProviderName) {
  return useMutation({
    mutationFn: (question: TestQuestion) =>
      call<ProviderTest>('POST', '/identity-provider/test', { query: { type, name }, body: question }),
  });
}
