import { useQuery } from '@tanstack/react-query';
import type {
  CheckedDocument,
  PolicyAnswer,
  PolicyHolder,
  PolicyList,
  PolicyRow,
} from '../../../protocol/console/identity-answers.ts';
import { call } from './call.ts';
import { useApiMutation, useList } from './queries.ts';

/** A policy may change the rights of the user, and so the session. */
const stale = ['policies', 'policy', 'users', 'user', 'groups', 'group', 'session'];

const rowsOf = ({ policies }: PolicyList) => policies;

export function usePolicies(contains: string, enabled = true) {
  return useList({ key: ['policies', contains], path: '/policies', query: { contains }, rowsOf, enabled });
}

export function usePolicy(name: string) {
  return useQuery({
    queryKey: ['policy', name],
    queryFn: () => call<PolicyAnswer>('GET', '/policy', { query: { name } }),
  });
}

/** Parses a document on the server, that of a bucket if one is given; fails with its first error. */
export function useCheckedDocument(document: string, bucket?: string) {
  return useQuery({
    queryKey: ['policy-check', document, bucket],
    queryFn: ({ signal }) => call<CheckedDocument>('POST', '/policy-check', { body: { document, bucket }, signal }),
    enabled: document.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });
}

interface PolicyForm {
  readonly name: string;
  readonly document: string;
  /** The time at which the replaced version was saved; null if none may exist. */
  readonly expects: string | null;
}

export function useSavePolicy() {
  return useApiMutation(
    ({ name, document, expects }: PolicyForm) =>
      call<PolicyRow>('PUT', '/policy', { query: { name }, body: { document, expects } }),
    stale,
  );
}

export function useDeletePolicy() {
  return useApiMutation((name: string) => call('DELETE', '/policy', { query: { name } }), stale);
}

export function useAttach(name: string) {
  return useApiMutation(
    (holder: PolicyHolder) => call('POST', '/policy/attach', { query: { name }, body: holder }),
    stale,
  );
}

export function useDetach(name: string) {
  return useApiMutation(
    (holder: PolicyHolder) => call('POST', '/policy/detach', { query: { name }, body: holder }),
    stale,
  );
}
