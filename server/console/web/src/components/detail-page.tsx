import type { UseQueryResult, UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure, notifyDone, notifyFailure } from './feedback.tsx';
import { LoadingRows } from './list-page.tsx';
import { Group, Title, Text, Button, Menu } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from 'react-router';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import type { Status } from '../../../contract/identity-answers.ts';

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

interface DetailHeadProps {
  /** The list that it belongs to. */
  readonly parent: { readonly name: string; readonly to: string };
  readonly name: string;
  readonly badge?: ReactNode;
  readonly actions?: ReactNode;
}

/** Over a page about one thing: the way back, its name, and what can be done with it. */
export function DetailHead({ parent, name, badge, actions }: DetailHeadProps) {
  useDocumentTitle(`${name} · Coffer`);
  return (
    <Group justify="space-between" align="flex-start" mih={36}>
      <Group gap="sm" miw={0}>
        <nav className="crumbs" aria-label="Place">
          <Link to={parent.to}>{parent.name}</Link>
          <span className="slash" aria-hidden>
            /
          </span>
          <Title order={1} fz="lg" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Title>
        </nav>
        {badge}
      </Group>
      <Group gap="xs">{actions}</Group>
    </Group>
  );
}

interface SectionProps {
  readonly title: string;
  readonly words?: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, words, action, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb={words === undefined ? 'sm' : 4}>
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {words !== undefined && (
        <Text size="sm" c="dimmed" mb="sm">
          {words}
        </Text>
      )}
      {children}
    </section>
  );
}

type SetStatus = UseMutationResult<unknown, Error, { readonly name: string; readonly status: Status }>;

interface MoreMenuProps {
  /** A user or a group. */
  readonly of: { readonly name: string; readonly status: Status };
  readonly setStatus: SetStatus;
  readonly mayToggle: boolean;
  /** E.g. `Delete user…`. */
  readonly deleteLabel: string;
  readonly mayDelete: boolean;
  readonly onDelete: () => void;
  /** Items between switching it and deleting it. */
  readonly children?: ReactNode;
}

/** What is done more rarely with a user or a group. */
export function MoreMenu({ of, setStatus, mayToggle, deleteLabel, mayDelete, onDelete, children }: MoreMenuProps) {
  const { name, status } = of;
  const next = status === 'enabled' ? 'disabled' : 'enabled';

  function toggle(): void {
    setStatus.mutate(
      { name, status: next },
      {
        onSuccess: () => notifyDone(`${name} is ${next}.`),
        onError: (error) => notifyFailure(`${name} stays ${status}`, error),
      },
    );
  }

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={15} />}>
          More
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          disabled={!mayToggle}
          leftSection={next === 'disabled' ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />}
          onClick={toggle}
        >
          {next === 'disabled' ? 'Disable' : 'Enable'}
        </Menu.Item>
        {children}
        <Menu.Item color="red" disabled={!mayDelete} leftSection={<IconTrash size={15} />} onClick={onDelete}>
          {deleteLabel}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
