import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { SessionAnswer, SignInOptions, ConsoleAction, Rights } from '../../../contract/answers.ts';
import { ApiError, call } from './call.ts';

/** The session; null without one. */
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
    // A provider that answers again appears without a reload.
    refetchInterval: 5_000,
  });
}

interface KeysForm {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

interface DirectoryForm {
  readonly name: string;
  readonly password: string;
}

export function useSignIn() {
  return useEntry((form: KeysForm) => call<SessionAnswer>('POST', '/sign-in', { body: form }));
}

export function useDirectorySignIn() {
  return useEntry((form: DirectoryForm) => call<SessionAnswer>('POST', '/sign-in-by-directory', { body: form }));
}

function useEntry<Form>(enter: (form: Form) => Promise<SessionAnswer>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: enter,
    onSuccess: (session) => {
      becomes(client, session);
    },
  });
}

export function useSignOut() {
  return useMutation({
    mutationFn: () => call('POST', '/sign-out'),
    // A reload removes all data of the user from memory, and the URL for the next user.
    onSuccess: () => window.location.assign('/sign-in'),
  });
}

/** Removes the data of the previous user. The query of the session stays, because it has observers. */
function becomes(client: QueryClient, session: SessionAnswer): void {
  client.setQueryData(['session'], session);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

const none: Rights = { all: [], own: [] };

/** The rights of the user. The server authorizes every call again. */
export function useRights() {
  const { all, own } = useSession().data?.may ?? none;
  return {
    may: (action: ConsoleAction) => all.includes(action),
    /** Rights on what belongs to the user. */
    mayOwn: (action: ConsoleAction) => own.includes(action),
  };
}
