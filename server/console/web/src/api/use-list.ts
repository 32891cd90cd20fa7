import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { call } from './call.ts';

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
