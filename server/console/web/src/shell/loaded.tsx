import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { LoadingRows } from './list-page.tsx';

interface LoadedProps<Answer> {
  /** What the page is about. */
  readonly name: string;
  readonly query: UseQueryResult<Answer>;
  readonly children: (answer: Answer) => ReactNode;
}

/** A page about one thing, once it is here. */
export function Loaded<Answer>({ name, query, children }: LoadedProps<Answer>) {
  if (query.isPending) return <LoadingRows />;
  if (query.isError) return <Failure what={`${name} cannot be shown`} error={query.error} retry={query.refetch} />;
  return children(query.data);
}
