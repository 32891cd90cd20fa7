import { Group, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { MoreRows } from './more-rows.tsx';
import type { Search } from './use-search.ts';

interface ListPageProps<Row> {
  readonly title: string;
  /** What one row is, for the words beside the list, e.g. `user`. */
  readonly one: string;
  readonly list: UseInfiniteQueryResult<readonly Row[]>;
  readonly search: Search;
  readonly actions?: ReactNode;
  /** In place of the rows where there are none at all. */
  readonly empty: ReactNode;
  /** Open or not, whatever the list shows. */
  readonly dialogs?: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** A list that the server searches: its states, and what goes over it. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, one, list, search, actions, empty, dialogs, children } = props;
  useDocumentTitle(`${title} · Coffer`);
  const plural = title.toLowerCase();
  const rows = list.data ?? [];
  // What is shown is what was searched for, not what is being typed.
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
        <Group gap="xs">
          {(rows.length > 0 || searched || search.text !== '') && (
            <TextInput
              aria-label={`Filter ${plural}`}
              placeholder="Filter"
              leftSection={<IconSearch size={15} />}
              value={search.text}
              onChange={(event) => search.onText(event.currentTarget.value)}
              w={200}
            />
          )}
          {actions}
        </Group>
      </Group>
      {list.isPending && <LoadingRows />}
      {list.isLoadingError && (
        <Failure what={`The ${plural} cannot be shown`} error={list.error} retry={list.refetch} />
      )}
      {list.isRefetchError && !list.isFetchNextPageError && (
        <Failure what={`The ${plural} cannot be read anew`} error={list.error} retry={list.refetch} />
      )}
      {list.isSuccess && rows.length === 0 && !searched && <div className="rows">{empty}</div>}
      {list.isSuccess && rows.length === 0 && searched && (
        <Text size="sm" c="dimmed" role="status">
          No {one} has “{search.contains.trim()}” in its name.
        </Text>
      )}
      {rows.length > 0 && children(rows)}
      <MoreRows list={list} shown={rows.length} />
      {dialogs}
    </Stack>
  );
}

export function LoadingRows() {
  return (
    <Stack gap={10} aria-label="Loading" role="status">
      {['60%', '45%', '52%'].map((width) => (
        <Skeleton key={width} h={20} w={width} />
      ))}
    </Stack>
  );
}
