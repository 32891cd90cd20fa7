import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './call.ts';

/** A session that ended while the page was open: every view learns it from the session query. */
function noticeEnd(error: Error): void {
  if (error instanceof ApiError && error.code === 'NotSignedIn') {
    queryClient.setQueryData(['session'], null);
  }
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({ onError: noticeEnd }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the server refused it refuses again; what was away may be back.
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503),
    },
  },
});
