import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SessionAnswer, SignInOptions } from '../../../contract/answers.ts';
import { ApiError, call } from './call.ts';

/** Who is signed in; null when nobody is. */
export function useSession() {
  return useQuery({
    queryKey: ['session'],
    queryFn: async () => {
      try {
        return await call<SessionAnswer>('GET', '/session');
      } catch (error) {
        if (error instanceof ApiError && error.code === 'NotSignedIn') return null;
        throw error;
      }
    },
    staleTime: 60_000,
    refetchInterval: 5 * 60_000,
  });
}

export function useSignInOptions() {
  return useQuery({
    queryKey: ['sign-in-options'],
    queryFn: () => call<SignInOptions>('GET', '/sign-in-options'),
    // A provider that was away shows as soon as it is back.
    refetchInterval: 5_000,
  });
}

export interface KeysForm {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (form: KeysForm) => call<SessionAnswer>('POST', '/sign-in', { body: form }),
    onSuccess: (session) => {
      client.clear();
      client.setQueryData(['session'], session);
    },
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call('POST', '/sign-out'),
    onSuccess: () => {
      client.clear();
      client.setQueryData(['session'], null);
    },
  });
}
