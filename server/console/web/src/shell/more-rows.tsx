import { Button } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import type { InfiniteQueryObserverBaseResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Failure } from './failure.tsx';

type Pages = Pick<
  InfiniteQueryObserverBaseResult,
  'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'fetchNextPage' | 'error'
>;

interface MoreRowsProps {
  readonly list: Pages;
  /** Rows that are shown: the end is looked for anew where there are others. */
  readonly shown: number;
}

/** At the end of a list: brings the next page when it comes into sight, or by its button. */
export function MoreRows({ list, shown }: MoreRowsProps) {
  const { hasNextPage, isFetchNextPageError, fetchNextPage, error } = list;
  if (isFetchNextPageError && error !== null) {
    return <Failure what="The next rows cannot be shown" error={error} retry={fetchNextPage} />;
  }
  // What was seen before the last rows came says nothing about the end that they pushed away.
  return hasNextPage && shown > 0 && <End key={shown} list={list} />;
}

function End({ list: { isFetchingNextPage, fetchNextPage } }: { readonly list: Pages }) {
  const { ref, entry } = useIntersection({ rootMargin: '400px' });
  const inSight = entry?.isIntersecting === true;
  useEffect(() => {
    if (inSight) void fetchNextPage();
  }, [inSight, fetchNextPage]);
  return (
    <div ref={ref}>
      <Button variant="default" size="compact-sm" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
