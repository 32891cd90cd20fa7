import {
  MutationCache,
  QueryCache,
  QueryClient,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { call } from './call.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** Reports the end of the session to all views through the query of the session. */
function endSession(error: Error): void {
  if (error instanceof ResponseError && error.code === 'NotSignedIn') {
    queryClient.setQueryData(['session'], null);
  }
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSession }),
  mutationCache: new MutationCache({ onError: endSession }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal is final. Only an unavailable server is asked again.
      retry: (count, error) =>
        count < 2 && error instanceof ResponseError && (error.status === 0 || error.status === 503),
    },
  },
});

interface Page {
  /** The `after` of the next page. */
  readonly next?: string;
}

interface ListQuery<Answer, Row> {
  readonly key: readonly string[];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly rowsOf: (answer: Answer) => readonly Row[];
  readonly enabled?: boolean;
}

/** A list that the server searches and returns in pages. The data are the rows of all loaded pages. */
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

/** A call that changes something. It refreshes the named queries, also after an error: outdated data may have caused it. */
export function useApiMutation<Input, Answer = void>(
  send: (input: Input) => Promise<Answer>,
  stale: readonly string[],
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: async () => {
      await Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
}
