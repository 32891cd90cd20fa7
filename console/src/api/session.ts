import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type {
  SessionAnswer,
  SignInOptions,
  SignOutAnswer,
  ConsoleAction,
  Rights,
} from '../../../protocol/console/answers.ts';
import { basePath, call, noteSignIn } from './call.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { drafts } from './draft-storage.ts';

/** The session; null without one. */
export function useSession() {
  return useQuery({
    queryKey: ['session'],
    queryFn: async () => {
      try {
        return remember(await call<SessionAnswer>('GET', '/session', { refresh: true }));
      } catch (error) {
        if (error instanceof ResponseError && error.code === 'NotSignedIn') return null;
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
    queryFn: () => call<SignInOptions>('GET', '/sign-in-options', { refresh: true }),
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
    mutationFn: async () => {
      try {
        return await call<SignOutAnswer>('POST', '/sign-out');
      } catch (error) {
        if (error instanceof ResponseError && error.code === 'NotSignedIn') return {};
        throw error;
      }
    },
    // A reload removes all data of the user from memory, and the URL for the next user. The provider ends its own session.
    onSuccess: ({ location = `${basePath()}/sign-in` }) => {
      drafts.clear();
      window.location.assign(location);
    },
  });
}

/**
 * Removes the data of the previous user. The query of the session stays, because it has observers. The same user goes on with the page as it
 * is.
 */
function becomes(client: QueryClient, session: SessionAnswer): void {
  const same = session.name === last?.name;
  client.setQueryData(['session'], remember(session));
  if (same) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  if (same) return;
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

/** The last session of this page, which a reload forgets. */
let last: SessionAnswer | undefined;

/** A page shows what its user typed, which is not for another user who signed in meanwhile, in another window. */
function remember(session: SessionAnswer): SessionAnswer {
  if (last !== undefined && last.name !== session.name) window.location.reload();
  if (last?.expires !== session.expires) noteSignIn();
  last = session;
  drafts.belongTo(JSON.stringify([session.signedInBy.kind, session.name]));
  return session;
}

/** The session of this page, and whether it has ended: its user then signs in again in place. Undefined before the first one. */
export function useLastSession(): { readonly session: SessionAnswer; readonly ended: boolean } | undefined {
  const { data } = useSession();
  if (data !== undefined && data !== null) return { session: data, ended: false };
  return data === null && last !== undefined ? { session: last, ended: true } : undefined;
}

const none: Rights = { all: [], own: [] };

/** The rights of the user. The server authorizes every call again. */
export function useRights() {
  const { all, own } = useLastSession()?.session.may ?? none;
  return {
    may: (action: ConsoleAction) => all.includes(action),
    /** Rights on what belongs to the user. */
    mayOwn: (action: ConsoleAction) => own.includes(action),
  };
}
