import { Group, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';

interface ListPageProps<Answer> {
  readonly title: string;
  /** What one row is, for the words beside the list, e.g. `user`. */
  readonly one: string;
  readonly query: UseQueryResult<Answer>;
  readonly rows: number;
  readonly more: boolean;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly actions?: ReactNode;
  /** In place of the rows where there are none at all. */
  readonly empty: ReactNode;
  /** Open or not, whatever the list shows. */
  readonly dialogs?: ReactNode;
  readonly children: ReactNode;
}

/** A list that the server searches: its states, and what goes over it. */
export function ListPage<Answer>(props: ListPageProps<Answer>) {
  const { title, one, query, rows, more, filter, onFilter, actions, empty, dialogs, children } = props;
  useDocumentTitle(`${title} · Coffer`);
  const plural = title.toLowerCase();
  const searched = filter.trim() !== '';
  return (
    <Stack gap="md">
      <Group justify="space-between" mih={36}>
        <Group gap="xs" align="baseline">
          <Title order={1}>{title}</Title>
          {rows > 0 && (
            <Text size="sm" c="dimmed">
              {rows}
              {more ? '+' : ''}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          {(rows > 0 || searched) && (
            <TextInput
              aria-label={`Filter ${plural}`}
              placeholder="Filter"
              leftSection={<IconSearch size={15} />}
              value={filter}
              onChange={(event) => onFilter(event.currentTarget.value)}
              w={200}
            />
          )}
          {actions}
        </Group>
      </Group>
      {query.isPending && <LoadingRows />}
      {query.isError && <Failure what={`The ${plural} cannot be shown`} error={query.error} retry={query.refetch} />}
      {query.isSuccess && rows === 0 && !searched && <div className="rows">{empty}</div>}
      {query.isSuccess && rows === 0 && searched && (
        <Text size="sm" c="dimmed" role="status">
          No {one} has “{filter}” in its name.
        </Text>
      )}
      {rows > 0 && children}
      {more && (
        <Text size="sm" c="dimmed">
          There are more than are shown: use the filter.
        </Text>
      )}
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
