import {
  MutationCache,
  QueryCache,
  QueryClient,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiError, call } from './call.ts';

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

interface Page {
  /** The `after` of the page that follows. */
  readonly next?: string;
}

interface ListQuery<Answer, Row> {
  readonly key: readonly string[];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly rowsOf: (answer: Answer) => readonly Row[];
  readonly enabled?: boolean;
}

/** A list that the server searches and answers a page at a time. Its data are the rows that came so far. */
export function useList<Answer extends Page, Row>({
  key,
  path,
  query,
  rowsOf,
  enabled = true,
}: ListQuery<Answer, Row>) {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => call<Answer>('GET', path, { query: { ...query, after: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    select: ({ pages }): readonly Row[] => pages.flatMap(rowsOf),
    placeholderData: keepPreviousData,
    enabled,
  });
}

/** A call that changes something. What the named queries know is asked for again, also after a refusal: it may be what is outdated. */
export function useChange<Input, Answer = void>(send: (input: Input) => Promise<Answer>, stale: readonly string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: async () => {
      await Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
}
