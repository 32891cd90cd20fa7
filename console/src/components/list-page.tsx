import { Group, Skeleton, Stack, Text, TextInput, Title, Button } from '@mantine/core';
import { useDocumentTitle, useIntersection, useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import type { UseInfiniteQueryResult, InfiniteQueryObserverBaseResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Failure } from './feedback.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from './use-draft.ts';

interface ListPageProps<Row> {
  readonly title: string;
  readonly list: UseInfiniteQueryResult<readonly Row[]>;
  readonly search: Search;
  readonly actions?: ReactNode;
  /** Shown where the list has no rows and no search. */
  readonly empty: ReactNode;
  /** Dialogs, which stay open while the rows change. */
  readonly dialogs?: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** The page of every list: its title, search, actions, rows and further pages. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, list, search, actions, empty, dialogs, children } = props;
  useDocumentTitle(`${title} · Coffer`);
  const rows = list.data ?? [];
  // The rows belong to the last search, not to the text that is being typed.
  const searched = search.contains.trim() !== '';
  return (
    <Stack gap="md">
      <Group justify="space-between" mih={36}>
        <Group gap="xs" align="baseline">
          <Title order={1}>{title}</Title>
          {rows.length > 0 && (
            <Text size="sm" c="dimmed">
              {rows.length}
              {list.hasNextPage ? '+' : ''}
            </Text>
          )}
        </Group>
        <Group gap="xs" className="list-tools">
          {/* Most lists have rows: the buttons next to the filter keep their places when these have come. */}
          {(list.isPending || rows.length > 0 || searched || search.text !== '') && (
            <TextInput
              aria-label={say(t.components.filter, { title })}
              data-filter
              placeholder={t.labels.filter}
              leftSection={<IconSearch size={15} />}
              value={search.text}
              onChange={(event) => search.onText(event.currentTarget.value)}
              className="list-filter"
            />
          )}
          {actions}
        </Group>
      </Group>
      {list.isPending && <LoadingRows />}
      {list.isLoadingError && (
        <Failure what={t.components.theListCannotBeShown} error={list.error} retry={list.refetch} />
      )}
      {list.isRefetchError && !list.isFetchNextPageError && (
        <Failure what={t.components.theListCannotBeReadAnew} error={list.error} retry={list.refetch} />
      )}
      {list.isSuccess && rows.length === 0 && !searched && empty}
      {list.isSuccess && rows.length === 0 && searched && (
        <Text size="sm" c="dimmed" role="status">
          {say(t.components.nothingHasInItsName, { contains: search.contains.trim() })}
        </Text>
      )}
      {rows.length > 0 && children(rows)}
      <MoreRows list={list} shown={rows.length} />
      {dialogs}
    </Stack>
  );
}

interface LoadingRowsProps {
  /** The height of what will be here, in pixels, on a phone and on wider pages: what is below it then keeps its place. */
  readonly height?: number | { readonly base: number; readonly sm: number } | undefined;
  readonly lines?: 1 | 2 | 3;
}

export function LoadingRows({ height, lines = 3 }: LoadingRowsProps) {
  return (
    <Stack
      gap={10}
      mih={height}
      className={height === undefined ? undefined : 'loading-block'}
      aria-label={t.components.loading}
      role="status"
    >
      {['60%', '45%', '52%'].slice(0, lines).map((width) => (
        <Skeleton key={width} h={20} w={width} />
      ))}
    </Stack>
  );
}

type Pages = Pick<
  InfiniteQueryObserverBaseResult,
  'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'fetchNextPage' | 'error'
>;

interface MoreRowsProps {
  readonly list: Pages;
  /** The count of rows. The end of the list is a new element when it changes. */
  readonly shown: number;
}

/** The end of a list: it loads the next page when it becomes visible, or by its button. */
export function MoreRows({ list, shown }: MoreRowsProps) {
  const { hasNextPage, isFetchNextPageError, fetchNextPage, error } = list;
  if (isFetchNextPageError && error !== null) {
    return <Failure what={t.components.theNextRowsCannotBeShown} error={error} retry={fetchNextPage} />;
  }
  // The observer of the old end would not report the new one, which the last rows moved.
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
        {t.components.showMore}
      </Button>
    </div>
  );
}

/** A search text. The server gets it when the user pauses. */
export interface Search {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly contains: string;
}

export function useSearch(): Search {
  const [text, onText] = useDraft('filter', '');
  const [contains] = useDebouncedValue(text, 200);
  return { text, onText, contains };
}
