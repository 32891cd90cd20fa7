import { useQuery } from '@tanstack/react-query';
import type {
  CheckedDocument,
  PolicyAnswer,
  PolicyHolder,
  PolicyList,
  PolicyRow,
} from '../../../contract/identity-answers.ts';
import { call } from './call.ts';
import { useChange, useList } from './queries.ts';

/** The person's own rights may be among them. */
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

/** What a document would mean; fails with what is wrong with it. */
export function useCheckedDocument(document: string) {
  return useQuery({
    queryKey: ['policy-check', document],
    queryFn: ({ signal }) => call<CheckedDocument>('POST', '/policy-check', { body: { document }, signal }),
    enabled: document.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });
}

export interface PolicyForm {
  readonly name: string;
  readonly document: string;
  /** When what it replaces was saved; null where there must be none. */
  readonly expects: string | null;
}

export function useSavePolicy() {
  return useChange(
    ({ name, document, expects }: PolicyForm) =>
      call<PolicyRow>('PUT', '/policy', { query: { name }, body: { document, expects } }),
    stale,
  );
}

export function useDeletePolicy() {
  return useChange((name: string) => call('DELETE', '/policy', { query: { name } }), stale);
}

export function useAttach(name: string) {
  return useChange((holder: PolicyHolder) => call('POST', '/policy/attach', { query: { name }, body: holder }), stale);
}

export function useDetach(name: string) {
  return useChange((holder: PolicyHolder) => call('POST', '/policy/detach', { query: { name }, body: holder }), stale);
}
